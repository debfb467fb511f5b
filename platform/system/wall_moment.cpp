#include "platform/system/wall_moment.h"

#include <ctime>

namespace lookout {

WallMoment::Time WallMoment::told(Time start) const {
  const auto by = start - start_;
  return std::chrono::abs(by) < kSetBy ? time_ : time_ + by;
}

WallMoment::Time WallMoment::machine_start() {
  timespec uptime{};
  clock_gettime(CLOCK_BOOTTIME, &uptime);  // goes on while the machine sleeps
  return std::chrono::system_clock::now() -
         std::chrono::duration_cast<Time::duration>(std::chrono::seconds(uptime.tv_sec) +
                                                    std::chrono::nanoseconds(uptime.tv_nsec));
}

}  // namespace lookout
