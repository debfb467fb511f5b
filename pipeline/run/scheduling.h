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

}  // namespace lookout
