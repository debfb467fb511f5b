#include "platform/cameras/frame_time.h"

#include "platform/system/since_boot.h"

namespace lookout {
namespace {

bool is_plausible(Clock::time_point stamp, Clock::time_point now) {
  return stamp > now - kMaxFrameAge && stamp <= now;
}

}  // namespace

Clock::time_point frame_time(Clock::time_point stamp, Clock::time_point now) {
  return is_plausible(stamp, now) ? stamp : now;
}

ClockPair read_clocks() {
  const std::chrono::nanoseconds boottime = since_boot();
  return {Clock::now(), boottime};
}

Clock::time_point sensor_frame_time(std::chrono::nanoseconds stamp, const ClockPair& now) {
  const Clock::time_point by_boottime = now.monotonic - (now.boottime - stamp);
  if (is_plausible(by_boottime, now.monotonic)) return by_boottime;
  return frame_time(Clock::time_point{stamp}, now.monotonic);
}

}  // namespace lookout
