// The counter tracks of a trace: values over time.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/profile/trace_recording.h"

namespace lookout {

// A new value, which holds until the next one of the same counter.
struct CounterChange {
  std::int64_t time_ns;  // of the same clock as the events
  const char* name;      // "double buffer"
  const char* unit;      // "frames"; the name of the value in the file
  double value;
};

// From the events of a complete recording, whose `reported` is sorted:
//   double buffer (frames)    0 or 1: frames that wait there for the model
//   with workers (frames)     frames that are being classified
//   dropped (frames)          since the trace's start
// and from its samples, where the machine has them:
//   temperature (celsius), clock (MHz), throttled (bits of the firmware), resident memory (MB)
// A counter of frames has a change only where its value changes; samples are all there.
std::vector<CounterChange> counters_of(const TraceRecording& recording,
                                       const std::vector<TraceRecording::Event>& events);

}  // namespace lookout
