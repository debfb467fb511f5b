// Where the time of a run went, computed from its trace.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "app/report/charts.h"
#include "app/trace/counter_summary.h"
#include "app/trace/frame_times.h"
#include "app/trace/operator_times.h"
#include "app/trace/time_use.h"
#include "app/trace/verdict.h"
#include "pipeline/core/frame.h"
#include "pipeline/results/statistics.h"

namespace lookout {

struct TraceSummary {
  std::map<std::string, std::string> about;  // facts about the run: model, version, ...
  bool by_pytorch = false;                   // frames are steps, and have no stages
  bool has_cpu_times = false;                // of stages
  TraceTime start{};                         // of the first event
  Clock::duration duration{};                // from there to the end of the last event
  double fps = 0;                            // frames a second, from the first capture to the last
  Verdict verdict;
  std::vector<ThreadTime> threads;
  Frames frames;                              // complete ones
  std::map<std::string, Percentiles> stages;  // of a frame, by name; also kTotalTime
  OperatorBreakdown operators;
  std::vector<CounterSummary> counters;
  OutlierRule rule;
  Clock::duration cut_off{};      // outliers have at least this total time
  std::vector<Outlier> outliers;  // the slowest first
};

// The total times of the frames in milliseconds, and the percentiles that a histogram of them
// points out. There is at least one frame.
std::vector<double> totals_ms(const TraceSummary& summary);
std::vector<Mark> latency_marks(const TraceSummary& summary);

// The stages of lookout in their order, then stages of other names, the total at the end.
std::vector<std::string> stages_in_order(const TraceSummary& summary);

// Throws as read_trace_events() does.
TraceSummary summarize_trace(std::istream& json, const OutlierRule& outliers = {});

}  // namespace lookout
