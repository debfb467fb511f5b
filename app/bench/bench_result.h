// The results of `lookout bench` and its report: pure functions of values.
//
// Names of the figures: "total" is 1000 ms divided by the rate, the time of a frame when one comes
// after the other; "model" is the median of inference; "jitter" is p99 / p50 of the time from a
// frame's capture to its predictions (stage total, without waiting).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/report/json.h"
#include "app/report/report.h"
#include "pipeline/results/machine_state.h"
#include "pipeline/results/statistics.h"
#include "platform/system/system_info.h"

namespace lookout {

// The archive that was measured.
struct BenchModel {  // NOLINT(bugprone-exception-escape): the move of Json throws nothing
  // In the JSON of bench: name, file, sha256, input, ..., and operators, the libraries of
  // --operators with their hashes.
  Json json;
  Facts facts;  // the same and more, for people

  std::string text(const char* key) const { return json.value(key, ""); }
};

// What a custom device took of a frame.
struct BenchDevice {
  std::string name;
  std::uint64_t calls = 0;           // of operators on the device
  std::uint64_t fallback_calls = 0;  // that fell back to the CPU
  std::uint64_t bytes_moved = 0;     // for those
  double fallback_share = 0;         // of the frame's time, 0 to 1
};

// The processor time of a frame without and with results that are reused, in pairs of slices of one
// run.
struct BenchStill {
  struct Pair {
    double cpu_ms_without = 0;  // of all threads, a frame
    double cpu_ms_with = 0;
    double reused = 0;  // the share of frames whose result was reused, with it; 0 to 1
  };
  std::vector<Pair> pairs;  // at least one
};

// The rates of the seconds of a measurement, without the lowest and the highest tenth.
struct RateSpread {
  double low = 0;  // frames per second
  double high = 0;
};

// The measurement of one combination.
struct BenchResult {  // NOLINT(bugprone-exception-escape): as above
  BenchModel model;
  int threads = 1;            // that shared the computation of a frame
  bool auto_threads = false;  // `threads` was chosen automatically
  int workers = 1;
  std::string source;                    // its description
  bool live = false;                     // a camera, or test:// at a rate
  StatsSnapshot stats;                   // of the frames after the warm-up
  std::optional<double> pace;            // frames a second of a replay; nothing: the fastest
  double cpu_ms = 0;                     // of all threads, a frame
  double wakeups_per_s = 0;              // how often a thread waited for something
  double resident_mb = 0;                // at the end, without the recorded frames
  double start_s = 0;                    // from the start of the process to the first prediction
  std::optional<RateSpread> fps_spread;  // nothing: the measurement was too short
  MachineState before;
  MachineState after;
  std::optional<double> max_temperature;  // degrees Celsius, once a second and at both ends
  bool complete = true;                   // false: the measurement was interrupted
  std::optional<BenchDevice> device;      // nothing: the engine's own
  std::optional<BenchStill> still;        // nothing: not asked for, or stopped before
};

// The machine, which all combinations share.
struct BenchMachine {
  SystemInfo system;
  std::string kind;  // see machine_kind()
  int processors = 1;
  std::string lookout;  // its version
};

struct BenchReport {
  BenchMachine machine;
  std::vector<BenchResult> results;
  std::size_t missing = 0;  // combinations without a result, because of an interruption
};

// "interrupted: 1 of 2 combinations", which counts the complete ones; empty: all are complete.
std::string interruption(const BenchReport& report);

double total_ms(const BenchResult& result);
double jitter(const BenchResult& result);

// The middle of the pairs, which are not empty, by each figure, and of their ratios with / without.
struct StillFigures {
  BenchStill::Pair median;
  double ratio = 0;
  double min_ratio = 0;
  double max_ratio = 0;
};
StillFigures figures_of(const BenchStill& still);

// The spread of one-second rates; nothing of less than five.
std::optional<RateSpread> spread_of(std::vector<double> rates);

// The libraries of the models, each once: "LibTorch 2.9.1, ONNX Runtime 1.27.0".
std::string libraries(const BenchReport& report);

// Gives models of one name but different files a name that tells which: "mobilenet (a.onnx)", with
// the whole path when the files have one name, too.
void disambiguate_names(std::vector<BenchResult>& results);

// "mobilenet, 1 thread, 2 workers", with the model's name as it is.
std::string title(const BenchResult& result);

// The reason that limits a combination: "throttled: ...", "too many threads: 1 is better", "too
// many workers: ...", "camera-limited: ...", "source-limited: ...", "preprocessing-limited: ...",
// "model-limited: ...". `all`: the results that it is compared
// with; may include itself.
std::string verdict(const BenchResult& result, const std::vector<BenchResult>& all);

// What a process of bench sends to another one; see app/README.md for the fields. from_message()
// throws Error(kInternal) for a text that is no such message.
std::string to_message(const BenchResult& result);
BenchResult from_message(const std::string& message);

// The results and their machine, as JSON.
Json to_json(const BenchReport& report);

// Refers to `bench`.
Report make_report(const BenchReport& bench);

}  // namespace lookout
