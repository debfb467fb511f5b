// When and where a thread runs, for owners of a board who want to say so.
#pragma once

#include <vector>

namespace lookout {

struct Scheduling {
  int realtime_priority = 0;  // 1..99: SCHED_FIFO, before every ordinary thread; 0: an ordinary one
  std::vector<int> cpus;      // numbers of the processors it may run on; empty: all
};

// Applies to the calling thread, and to threads that it starts later. Throws Error(kPermission)
// when the system refuses it to this user, and Error(kUsage) when there is none of these
// processors.
void schedule_this_thread(const Scheduling& scheduling);

// The nice value of work that may wait for frames: they get nine times its share of a processor
// (sched(7): a step is a factor of 1.25).
inline constexpr int kLowPriority = 10;

// Gives the calling thread a low priority, for good: kLowPriority, unless it has a lower one.
// Threads and processes that it starts later inherit it. Returns false when the system refuses
// that, which is logged once a process; the thread then works on as before.
bool lower_this_thread_priority();

}  // namespace lookout
