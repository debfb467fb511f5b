// The counters of a trace: what their values were over time.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/trace/trace_events.h"

namespace lookout {

// Figures of the values, each weighted by the time that it held. The last one holds until `end`.
struct CounterSummary {
  std::string name;
  std::string unit;
  std::size_t count = 0;  // of the values in the file
  double min = 0;
  double max = 0;
  double mean = 0;
  double deviation = 0;  // standard deviation
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  std::vector<std::pair<TraceTime, double>> values;  // sorted by time
};

// Those of frames first.
std::vector<CounterSummary> counter_summaries(const TraceEvents& events, TraceTime end);

// What the counters of throttling, temperature and clock say.
struct ThrottledShare {
  bool known = false;     // whether there is a counter of throttling
  double share = 0;       // of the samples in which the firmware had lowered the clock
  double hottest = 0;     // degrees Celsius; 0: unknown
  double lowest_mhz = 0;  // 0: unknown
};
ThrottledShare throttled_share(const std::vector<CounterSummary>& counters);

}  // namespace lookout
