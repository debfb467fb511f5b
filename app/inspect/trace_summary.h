// lookout trace-summary: where the time went, from a trace that `lookout run --trace` wrote.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "pipeline/frame.h"
#include "pipeline/results/operator_table.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct TraceSummary {
  struct Thread {
    std::string name;
    Clock::duration busy{};  // in any stage
  };
  // The time that a stage or an operator took in one frame, and how much that is above its median.
  struct Part {
    std::string name;
    Clock::duration time{};
    Clock::duration above_median{};
  };
  struct Frame {
    std::uint64_t number = 0;
    Clock::duration total{};
    std::vector<Part> stages;     // the one most above its median first
    std::vector<Part> operators;  // the same by self time; only a few
  };

  std::map<std::string, std::string> about;  // facts about the run: model, version, ...
  Clock::duration duration{};                // from the first event to the end of the last
  std::vector<Thread> threads;
  std::uint64_t frames = 0;                   // complete ones, from capture to report
  std::map<std::string, Percentiles> stages;  // of a frame, by name; also kTotal
  OperatorTable operators;                    // every call was measured; all models together
  std::vector<Frame> slowest;                 // from the 99th percentile on, the slowest first

  // The name of the time from the start of the first stage to the end of the last.
  static constexpr const char* kTotal = "total";
};

// Throws as read_trace_events() does.
TraceSummary summarize_trace(std::istream& json);

// With a newline at the end.
std::string to_text(const TraceSummary& summary);
std::string to_json(const TraceSummary& summary);

// The report on a file, with a newline at the end. Throws Error(kNoInput), Error(kPermission) or
// Error(kBadData).
std::string trace_summary(const TraceSummaryOptions& options);

}  // namespace lookout
