// Results and statistics as text and JSON: pure functions of values, independent of the locale.
//
// to_text() and to_json() return a string; append_*() add to `out`, so that a string that is used
// again is not reallocated.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/core/camera_status.h"
#include "pipeline/core/json_text.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/result.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"

namespace lookout {

double to_ms(Clock::duration duration);

// 0 to 1; 0 of no time at all.
double share_of(Clock::duration part, Clock::duration whole);
// The same in percent, which is not 100 times a share that was rounded.
double percent_of(Clock::duration part, Clock::duration whole);

// `27.1/30.2/33.0/41.5`: p50, p95, p99 and the maximum in milliseconds.
std::string to_text(const Percentiles& percentiles);

// The percentiles with their JSON names.
std::array<std::pair<const char*, Clock::duration>, 4> named(const Percentiles& percentiles);

// The age of a frame and the times of its stages, with their names, in the order of texts.
std::array<std::pair<const char*, const Percentiles*>, 5> latencies(const StatsSnapshot& stats);

// Seconds since 1970: `1795262400.123`.
void append_seconds(std::chrono::system_clock::time_point time, std::string& out);

inline constexpr std::size_t kAllPredictions = static_cast<std::size_t>(-1);

struct ResultStyle {
  bool with_state = false;
  std::size_t max_predictions = kAllPredictions;
};

// One line, escaped as by append_escaped(): `812 goldfish.jpg: goldfish 98.2 %, tench 0.9 % (27.1
// ms)`. With the state:
// `..., state goldfish 95.0 %`, or when it changed `..., now goldfish 95.0 %, was unknown`.
void append_text(const Result& result, const std::string& origin, std::string& out,
                 const ResultStyle& style = {});

// `goldfish 95.0 %`, `unknown`, or `none yet` before the first state.
void append_text(const SceneState& state, std::string& out);

// The meaning of the Raspberry Pi firmware's bits: "under-voltage now", "was throttled since the
// start".
std::vector<std::string> throttling_words(std::uint32_t bits);

// The reasons why the machine is slow now: `throttled now, 81.2 °C`.
// Empty when none is known.
std::string to_text(const MachineState& machine);

// One line of rates, counters and percentiles for the log.
void append_text(const StatsSnapshot& stats, std::string& out);

// The columns of a table of operators: means per frame, of sampled calls with the standard error of
// their number, or sums over all frames and the longest
// call.
enum class OperatorTimes { kPerFrame, kTotal };

// A table of the first `max_rows` operators and the number of the others. Returns its lines without
// newlines.
std::vector<std::string> to_text(const OperatorTable& table, OperatorTimes times,
                                 std::size_t max_rows);

// JSON lines, schema 1; see app/output.md for the fields.
class JsonFormat {
 public:
  explicit JsonFormat(const RunInfo& info);

  // The model that statistics name. To be called before anything is appended.
  void use(const ModelInfoPtr& model);

  // `{"schema":1,"type":"classification",...}` and a newline. Uses the result's model, as does
  // append_state().
  void append(const Result& result, const std::string& origin, std::string& out);
  // `{"schema":1,"type":"state",...}` and a newline: the state after this result.
  void append_state(const Result& result, const std::string& origin, std::string& out);
  // `{"schema":1,"type":"stats",...}`, or "summary" for the final one, and a newline. `operators`:
  // null when operators are not sampled.
  void append(const StatsSnapshot& stats, std::string& out,
              const OperatorTable* operators = nullptr) const;
  // `{"schema":1,"type":"status",...}` and a newline.
  void append(const CameraStatus& status, std::string& out) const;

 private:
  // The first fields of a line, which all lines of results share: up to the timestamp and the file.
  void append_head(const char* type, const Result& result, const std::string& origin,
                   std::string& out);

  // The name of a state as JSON, or null.
  void append_name(const SceneState& state, std::string& out) const;

  std::string camera_;  // as a JSON string
  ModelInfoPtr model_;
  std::string source_;               // `"camera":...,"model":...`
  std::vector<std::string> labels_;  // those of model_, as JSON strings
  std::string origin_;               // of the last result
  std::string file_;                 // cache: the fields of origin_, with a comma
};

// A formatted line without the newline at its end.
std::string without_newline(std::string line);

}  // namespace lookout
