// Results and statistics as text: pure functions of values, independent of the locale.
//
// What appends to `out` does not clear it; a string that is used again is not reallocated.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/reporter.h"
#include "pipeline/result.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/statistics.h"

namespace lookout {

double to_ms(Clock::duration duration);

// `27.1/30.2/33.0/41.5`: p50, p95, p99 and the maximum in milliseconds.
std::string to_text(const Percentiles& percentiles);

// With its quotes. Bytes that are not UTF-8 (a file's name may hold any) become U+FFFD.
std::string json_string(const std::string& text);

// What comes from outside, for people: control characters (C0, DEL, and C1 in UTF-8) as \n or \x1b,
// so that it neither begins a line nor tells a terminal anything.
void append_printable(std::string_view text, std::string& out);
std::string printable(std::string_view text);

// Seconds since 1970: `1795262400.123`.
void append_seconds(std::chrono::system_clock::time_point time, std::string& out);

// One printable() line: `812 goldfish.jpg: goldfish 98.2 %, tench 0.9 % (27.1 ms)`. With the state:
// `..., state goldfish 95.0 %`, or when it changed `..., now goldfish 95.0 %, was unknown`.
void append_text(const Result& result, const std::string& origin, std::string& out,
                 bool with_state = false);

// `goldfish 95.0 %`, `unknown`, or before the first `none yet`.
void append_text(const SceneState& state, std::string& out);

// What the Raspberry Pi firmware's bits mean: "under-voltage now", "was throttled since the start".
std::vector<std::string> throttling_words(std::uint32_t bits);

// `throttled now, 81.2 °C`: what slows the machine down now; empty when nothing does or tells so.
std::string to_text(const MachineState& machine);

// One line of rates, counters and percentiles for the log.
void append_text(const StatsSnapshot& stats, std::string& out);

// A table for the log, a line each: the operators that take the most time, times of a frame.
std::vector<std::string> text_lines(const OperatorTable& table);

// JSON lines, schema 1; see README.md for the fields.
class JsonFormat {
 public:
  // `archive`: for the summary, what is known of the model's archive, a JSON object; may be empty.
  JsonFormat(const std::string& camera, const std::string& model,
             const std::vector<std::string>& labels, std::string archive = "");

  // `{"schema":1,"type":"classification",...}` and a newline.
  void append(const Result& result, const std::string& origin, std::string& out);
  // `{"schema":1,"type":"state",...}` and a newline: what the state became with this result.
  void append_state(const Result& result, const std::string& origin, std::string& out);
  // `{"schema":1,"type":"stats",...}`, or "summary" for the final one, and a newline. `operators`:
  // null when they are not sampled.
  void append(const StatsSnapshot& stats, std::string& out,
              const OperatorTable* operators = nullptr) const;
  // `{"schema":1,"type":"status",...}` and a newline.
  void append(const CameraStatus& status, std::string& out) const;

 private:
  // What lines of results begin with, up to the timestamp and the file.
  void append_head(const char* type, const Result& result, const std::string& origin,
                   std::string& out);

  std::string camera_;               // as a JSON string
  std::string source_;               // `"camera":...,"model":...`
  std::vector<std::string> labels_;  // as JSON strings
  std::string archive_;              // a JSON object
  std::string origin_;               // the last one, which most often comes again
  std::string quoted_origin_;
};

}  // namespace lookout
