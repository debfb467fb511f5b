#include "platform/system/since_boot.h"

#include <ctime>

namespace lookout {

std::chrono::nanoseconds since_boot() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace lookout
