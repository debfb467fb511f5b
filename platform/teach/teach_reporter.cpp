#include "platform/teach/teach_reporter.h"

#include <time.h>

#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/run/scheduling.h"
#include "platform/pictures/encode_picture.h"

namespace lookout {

// The thread's, which may outlive the reporter.
class TeachReporter::Desk {
 public:
  Desk(std::shared_ptr<Teaching> teaching, const View& view)
      : teaching_(std::move(teaching)), view_(view) {}

  void work(Turn& turn) {
    if (!std::exchange(lowered_, true)) lower_this_thread_priority();
    if (turn.hold || turn.look) take(turn);
    if (turn.now.uptime >= purge_due_) purge(turn.now);
  }

 private:
  void take(Turn& turn) {
    const cv::Mat bgr = turned(turn.bgr, view_);
    turn.bgr.release();
    if (turn.hold) teaching_->add(*turn.hold, bgr, turn.now.wall);
    teaching_->look(turn.hold ? turn.hold->watch : *turn.look, bgr);
  }

  // What fails is tried again a day later.
  void purge(const TeachNow& now) {
    purge_due_ = now.uptime + kPurge;
    try {
      teaching_->purge(now.wall);
    } catch (const std::exception& error) {
      log_warn("teach: what was thrown away cannot be removed: {}", error.what());
    }
  }

  const std::shared_ptr<Teaching> teaching_;
  const View view_;
  bool lowered_ = false;
  std::chrono::milliseconds purge_due_{};
};

TeachReporter::TeachReporter(std::shared_ptr<Teaching> teaching, const View& view,
                             ReadClocks clocks, std::chrono::seconds patience)
    : teaching_(std::move(teaching)),
      clocks_(std::move(clocks)),
      patience_(patience),
      worker_("teach", [desk = std::make_shared<Desk>(teaching_, view)](Turn& turn, const auto&) {
        desk->work(turn);
      }) {}

TeachReporter::~TeachReporter() {
  if (worker_.end_by(Clock::now() + patience_)) return;
  log_warn("teach: the last picture is not written: the storage is too slow");
}

TeachTime TeachReporter::teach_time(decltype(TeachTime::at) at) {
  constexpr int kMinutesOfHour = 60;
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  std::tm local{};
  localtime_r(&seconds, &local);
  return {at, local.tm_hour * kMinutesOfHour + local.tm_min};
}

TeachNow TeachReporter::read_clocks() {
  timespec uptime{};
  clock_gettime(CLOCK_BOOTTIME, &uptime);
  const auto wall = std::chrono::system_clock::now();
  return {teach_time(std::chrono::floor<std::chrono::milliseconds>(wall)),
          std::chrono::floor<std::chrono::milliseconds>(std::chrono::seconds(uptime.tv_sec) +
                                                        std::chrono::nanoseconds(uptime.tv_nsec))};
}

// A frame of several watches is reported for each.
void TeachReporter::report(const Result& /*result*/, const Frame& frame) {
  if (std::exchange(last_frame_, frame.sequence) == frame.sequence) return;
  const TeachNow now = clocks_();
  const std::optional<Hold> hold = teaching_->take(now.uptime);
  const auto look = hold ? std::nullopt : teaching_->take_look(now.uptime);
  if (!hold && !look) return;
  worker_.put({hold, look, whole_picture(frame).clone(), now});
}

// A turn with a picture, which may replace this one, also removes what is due.
void TeachReporter::poll() {
  const TeachNow now = clocks_();
  if (now.uptime < purge_due_) return;
  purge_due_ = now.uptime + kPurge;
  worker_.put({std::nullopt, std::nullopt, {}, now});
}

void TeachReporter::status(const CameraStatus& status) { teaching_->set_online(status.online); }

}  // namespace lookout
