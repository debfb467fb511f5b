// lookout trace-summary: answers what one asks of a trace that `lookout run --trace` wrote.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "app/options/options.h"

namespace lookout {

// All times in milliseconds.
struct TraceSummary {
  struct Thread {
    std::string name;
    double busy_ms = 0;  // in any stage; of the trace's duration
  };
  struct Percentiles {
    double p50 = 0;
    double p95 = 0;
    double p99 = 0;
    double max = 0;
  };
  struct Operator {
    std::string name;
    std::uint64_t calls = 0;
    double total_ms = 0;
    double self_ms = 0;  // less what the operators that it called took
    double share = 0;    // of the self time of all, 0..1
    double longest_ms = 0;
  };
  // What took time in a frame, and how much more that was than its median over all frames.
  struct Part {
    std::string name;
    double ms = 0;
    double above_median_ms = 0;
  };
  struct Frame {
    std::uint64_t number = 0;
    double total_ms = 0;
    std::vector<Part> stages;     // the most above its median first
    std::vector<Part> operators;  // likewise, by self time; a few
  };

  std::map<std::string, std::string> about;  // the run: model, version, ...
  double duration_ms = 0;                    // from the first event to the end of the last
  std::vector<Thread> threads;
  std::uint64_t frames = 0;                   // from capture to report
  std::map<std::string, Percentiles> stages;  // of a frame; "queue-wait" and "total", too
  std::vector<Operator> operators;            // the largest self time first
  std::vector<Frame> slowest;                 // from the 99th percentile on, the slowest first
};

// Throws Error(kBadData) with what is wrong, in words that follow the file's name.
TraceSummary summarize_trace(std::istream& json);

// With a newline at the end.
std::string to_text(const TraceSummary& summary);
std::string to_json(const TraceSummary& summary);

// The report on a file. Throws Error(kNoInput), Error(kPermission) or Error(kBadData).
std::string trace_summary(const TraceSummaryOptions& options);

}  // namespace lookout
