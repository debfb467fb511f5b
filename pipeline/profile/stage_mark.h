// What a thread used and waited for in a stage, from marks at the stage's ends.
#pragma once

#include <algorithm>
#include <ctime>
#include <optional>

#include "pipeline/core/frame.h"

namespace lookout {

// CPU time of the calling thread (CLOCK_THREAD_CPUTIME_ID).
inline Clock::duration thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A moment of a thread, where a stage ends or begins.
struct StageMark {
  Clock::time_point time;
  Clock::duration cpu{};     // of the thread since its start; zero when the frame is not traced
  Clock::duration writer{};  // that it has waited for readers of results since its start
};

// This moment of the calling thread. Where others want the processor, the kernel may take it away
// at this system call: before the time is read, so that it counts for the stage that ends here.
inline StageMark mark_now(bool traced) {
  StageMark mark;
  if (traced) mark.cpu = thread_cpu_time();
  mark.time = Clock::now();
  return mark;
}

struct StageUse {
  std::optional<Clock::duration> cpu;  // that the thread ran; empty: not measured
  Clock::duration writer{};            // that it waited for a reader of results
};

// Between two marks of a thread, both of a traced frame. Two clocks are never read at the same
// moment: the times are limited to the stage's.
inline StageUse use_between(const StageMark& start, const StageMark& end) {
  const Clock::duration wall = std::max(Clock::duration::zero(), end.time - start.time);
  StageUse use;
  use.cpu = std::min(end.cpu - start.cpu, wall);
  use.writer = std::min(end.writer - start.writer, wall - *use.cpu);
  return use;
}

}  // namespace lookout
