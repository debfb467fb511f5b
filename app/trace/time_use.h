// What the threads of a trace did with their time. Every part has one of these categories, and the
// parts of a thread add up to the duration of the trace:
//
// in a stage
//   ran              the CPU time of the thread.
//   writer           The thread waited for a reader of results, such as a pipe whose other end is
//                    slow. Only the stage "report" does so, and only for sources that wait, such as
//                    files: results of a camera are dropped instead. The writer measures it.
//   did not run      The rest. Mostly the thread waited for a processor that other threads or
//                    programs had. In "inference" on several threads it also waited for those that
//                    compute with it, in "capture" of a video for those that decode it; reading
//                    files from a slow disk looks the same.
// between stages (idle)
//   camera           There was no new frame: the thread waited for the camera, or another source.
//   capture          A new frame was being copied, converted or decoded by the capture thread.
//   model            The thread waited for the model: the capture thread for room in the double
//                    buffer, the thread that reports for the workers.
//   other            The rest: results completed, statistics, the thread waking up, the trace's
//                    beginning and end.
//
// Without CPU times ("cpu_us") all of a stage counts as ran.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/trace/trace_events.h"
#include "pipeline/core/frame.h"

namespace lookout {

// Adds, and stops at the largest duration: times in a damaged file may be too large to be added.
void add_time(Clock::duration more, Clock::duration& sum);

struct StageTime {
  Clock::duration ran{};
  Clock::duration not_run{};
  Clock::duration writer{};
  Clock::duration wall() const;
  void add(const StageTime& more);
};

StageTime stage_time(const TraceSlice& slice);

struct IdleTime {
  Clock::duration camera{};
  Clock::duration capture{};
  Clock::duration model{};
  Clock::duration other{};
  Clock::duration sum() const { return camera + capture + model + other; }
};

// The parts with their names in JSON and in texts.
struct IdlePart {
  const char* key;
  const char* text;
  Clock::duration IdleTime::*time;
};
inline constexpr std::array<IdlePart, 4> kIdleParts{{
    {"camera", "waited for the camera", &IdleTime::camera},
    {"capture", "waited for the capture", &IdleTime::capture},
    {"model", "waited for the model", &IdleTime::model},
    {"other", "other", &IdleTime::other},
}};

struct ThreadTime {
  std::string name;
  Clock::duration busy{};                                 // in any slice
  std::vector<std::pair<std::string, StageTime>> stages;  // in the order of a frame's way
  IdleTime idle;                                          // between the slices
  StageTime in_stages() const;                            // of all of them
};

// First and last time of the slices.
struct TraceSpanTime {
  TraceTime start{};
  TraceTime end{};
};
TraceSpanTime whole_span(const std::vector<TraceSlice>& slices);

// One entry for each thread that has slices, in the order of their numbers. `events.slices` are
// sorted by thread and start.
std::vector<ThreadTime> thread_times(const TraceEvents& events);

}  // namespace lookout
