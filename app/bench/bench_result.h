// What `lookout bench` found, and what it says about it: pure functions of values.
//
// Words of the figures: "total" is 1000 ms divided by the rate, the time that a frame takes when
// one comes after the other; "model" is the median of inference; "jitter" is p99 / p50 of a frame's
// way from its capture to its predictions (stage total, waiting not included).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/results/machine_state.h"
#include "pipeline/results/statistics.h"
#include "platform/system/system_info.h"

namespace lookout {

// What was measured: an archive, as `lookout inspect` describes it.
struct BenchModel {
  std::string name;
  std::string file;
  std::string sha256;
  std::string input;        // "224x224"
  std::string activations;  // "qint8"
  std::string kernels;      // "XNNPACK"
  std::string engine;       // "QNNPACK"
  std::string quantization;
  std::string producer;  // "tool lookout models/export.py, torch 1.13.1"
  bool trained = true;
};

// One combination.
struct BenchResult {
  BenchModel model;
  int threads = 1;            // that computed a frame
  bool auto_threads = false;  // it is the number that was chosen, at the end
  int workers = 1;
  std::string source;      // its description
  bool live = false;       // a camera, or test:// at a rate
  StatsSnapshot stats;     // of the frames after the warm-up
  double cpu_ms = 0;       // of all threads, a frame
  double resident_mb = 0;  // at the end, without the recorded frames
  double start_s = 0;      // from the start of the process to the first prediction
  MachineState before;
  MachineState after;
  bool complete = true;  // false: it was interrupted
};

// The machine and the libraries, which all combinations share.
struct BenchMachine {
  SystemInfo system;
  std::string kind;  // of figure: see machine_kind()
  int processors = 1;
  std::string lookout;  // its version
  std::string libtorch;
};

struct BenchReport {
  BenchMachine machine;
  std::vector<BenchResult> results;
  std::size_t missing = 0;  // combinations without a result: it was interrupted
};

// "interrupted: 1 of 2 combinations", of those that were measured to their end; empty: all were.
std::string interruption(const BenchReport& report);

double total_ms(const BenchResult& result);
double jitter(const BenchResult& result);

// What limits a combination, in words: "throttled: ...", "too many threads: 1 is better", "too many
// workers: ...", "camera-limited: ...", "source-limited: ...", "preprocessing-limited: ...",
// "model-limited: ...". `all`: what it is compared with, itself included or not.
std::string verdict(const BenchResult& result, const std::vector<BenchResult>& all);

// With a newline at the end.
std::string to_text(const BenchReport& report);
std::string to_json(const BenchReport& report);  // one line
std::string to_markdown(const BenchReport& report);

}  // namespace lookout
