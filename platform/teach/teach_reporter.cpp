#include "platform/teach/teach_reporter.h"

#include <time.h>

#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/run/scheduling.h"
#include "platform/pictures/encode_picture.h"

namespace lookout {

TeachReporter::TeachReporter(std::shared_ptr<Teaching> teaching, const View& view,
                             ReadClocks clocks, std::chrono::seconds patience)
    : teaching_(std::move(teaching)),
      clocks_(std::move(clocks)),
      patience_(patience),
      worker_("teach",
              [teaching = teaching_, view, lowered = false](Picture& picture, const auto&) mutable {
                if (!std::exchange(lowered, true)) lower_this_thread_priority();
                teaching->add(picture.hold, turned(picture.bgr, view), picture.time);
                picture.bgr.release();
              }) {}

TeachReporter::~TeachReporter() {
  if (worker_.end_by(Clock::now() + patience_)) return;
  log_warn("teach: the last picture is not written: the storage is too slow");
}

TeachNow TeachReporter::read_clocks() {
  constexpr int kMinutesOfHour = 60;
  timespec uptime{};
  clock_gettime(CLOCK_BOOTTIME, &uptime);
  const auto wall = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(wall);
  std::tm local{};
  localtime_r(&seconds, &local);
  return {{std::chrono::floor<std::chrono::milliseconds>(wall),
           local.tm_hour * kMinutesOfHour + local.tm_min},
          std::chrono::floor<std::chrono::milliseconds>(std::chrono::seconds(uptime.tv_sec) +
                                                        std::chrono::nanoseconds(uptime.tv_nsec))};
}

// A frame of several watches is reported for each.
void TeachReporter::report(const Result& /*result*/, const Frame& frame) {
  if (std::exchange(last_frame_, frame.sequence) == frame.sequence) return;
  const TeachNow now = clocks_();
  const std::optional<Hold> hold = teaching_->take(now.uptime);
  if (!hold) return;
  worker_.put({*hold, whole_picture(frame).clone(), now.wall});
}

void TeachReporter::status(const CameraStatus& status) { teaching_->set_online(status.online); }

}  // namespace lookout
