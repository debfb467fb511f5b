#include "platform/cameras/sensor_time.h"

#include <ctime>

namespace lookout {
namespace {

constexpr auto kOldest = std::chrono::seconds(10);
// A stamp may be that of the end of the exposure while the driver is ahead of it.
constexpr auto kNewest = std::chrono::seconds(1);

bool is_plausible(Clock::time_point time, Clock::time_point now) {
  return time > now - kOldest && time < now + kNewest;
}

}  // namespace

ClockPair read_clocks() {
  timespec boottime{};
  clock_gettime(CLOCK_BOOTTIME, &boottime);
  return {Clock::now(),
          std::chrono::seconds(boottime.tv_sec) + std::chrono::nanoseconds(boottime.tv_nsec)};
}

Clock::time_point time_of_sensor(std::chrono::nanoseconds stamp, const ClockPair& now) {
  const Clock::time_point by_boottime = now.monotonic - (now.boottime - stamp);
  if (is_plausible(by_boottime, now.monotonic)) return by_boottime;
  const Clock::time_point by_monotonic{stamp};
  return is_plausible(by_monotonic, now.monotonic) ? by_monotonic : now.monotonic;
}

}  // namespace lookout
