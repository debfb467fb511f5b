#include "platform/cameras/reconnecting_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/cameras/v4l2_device.h"

namespace lookout {
namespace {

// A reason of another kind is logged when it has lasted this long; while a camera is plugged in,
// reasons change quickly.
constexpr std::chrono::seconds kLasting{5};

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

void RateWatch::restart() {
  first_.reset();
  window_start_.reset();
  was_slow_ = false;
}

std::optional<double> RateWatch::frame(Clock::time_point captured, double expected) {
  if (logged_) return std::nullopt;
  if (!first_) first_ = captured;
  if (!window_start_) {
    if (captured - *first_ < kSettling) return std::nullopt;
    window_start_ = captured;
    periods_ = 0;
    return std::nullopt;
  }
  ++periods_;
  const std::chrono::duration<double> passed = captured - *window_start_;
  if (passed < kWindow) return std::nullopt;
  const double rate = static_cast<double>(periods_) / passed.count();
  window_start_ = captured;
  periods_ = 0;
  const bool slow = rate < kTooFew * expected;
  logged_ = slow && was_slow_;
  was_slow_ = slow;
  return logged_ ? std::optional(rate) : std::nullopt;
}

ReconnectingSource::ReconnectingSource(Open open, ReconnectOptions options)
    : open_(std::move(open)),
      options_(std::move(options)),
      back_since_(options_.now()),
      delay_(options_.first_delay) {
  if (!options_.sleep) {
    options_.sleep = [wake = options_.wake](Clock::duration duration) { wait_for(wake, duration); };
  }
  info_.name = options_.name;
  info_.description = options_.name + ", which is not there yet";
  info_.live = true;
  if (options_.wait_for_first) {
    try_to_open();
  } else {
    camera_ = open_();
    opened();
  }
  if (camera_ == nullptr) return;
  was_there_ = camera_->online();
  info_ = camera_->info();
  if (!options_.name.empty()) info_.name = options_.name;
}

ReadStatus ReconnectingSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  check_patience();
  if (camera_ != nullptr) return read_camera(frame, timeout);
  if (options_.now() >= next_attempt_) {
    try_to_open();
  } else {
    wait(timeout);
  }
  return ReadStatus::kTimeout;
}

ReadStatus ReconnectingSource::read_camera(Frame& frame, std::chrono::milliseconds timeout) {
  ReadStatus status = ReadStatus::kTimeout;
  try {
    status = camera_->read(frame, timeout);
  } catch (const Error& error) {
    if (!may_pass(error)) throw;
    // Being absent afterwards is not a new reason to log.
    close(last_frame_ ? ErrorKind::kNoInput : error.kind(), error.what());
    return ReadStatus::kTimeout;
  }
  const auto now = options_.now();
  if (!last_sign_ || status != ReadStatus::kTimeout) last_sign_ = now;
  if (status == ReadStatus::kSkipped) note_damage(now);
  if (status != ReadStatus::kFrame) {
    check_life(now);
    return status;
  }
  last_frame_ = now;
  damaged_since_.reset();
  if (options_.is_frozen && options_.is_frozen() && camera_->info().has_sensor) {
    close(ErrorKind::kDeviceLost, "its pictures have been equal to the last byte for 10 s");
    return ReadStatus::kTimeout;
  }
  if (!online()) note_return(now);
  note_shortfall();
  const SourceInfo& info = camera_->info();
  const double expected = info.fps > 0 && info.asked_fps > 0 ? std::min(info.fps, info.asked_fps)
                                                             : std::max(info.fps, info.asked_fps);
  if (const auto measured = rate_.frame(frame.captured, expected)) {
    log_warn(
        "camera {}: asked for {:.4g} fps, granted {:.4g}, but only {:.1f} come; in poor light "
        "many cameras expose longer",
        info_.name, info.asked_fps, info.fps, *measured);
  }
  return status;
}

// Called after open_().
void ReconnectingSource::opened() {
  last_sign_.reset();
  last_frame_.reset();
  damaged_since_.reset();
  rate_.restart();
  note_shortfall();
}

void ReconnectingSource::note_shortfall() {
  const SourceInfo& info = camera_->info();
  if (info.shortfall.empty() || !logged_shortfalls_.insert(info.shortfall).second) return;
  log_warn("camera {}: {}", options_.name.empty() ? info.name : options_.name, info.shortfall);
}

// Closes a camera that sends no frames or only damaged ones.
void ReconnectingSource::check_life(Clock::time_point now) {
  const auto limit = [this](Clock::duration min) { return std::max(min, periods()); };
  const auto silent = now - *last_sign_;
  const auto damaged = now - damaged_since_.value_or(now);
  if (silent >= limit(last_frame_ ? options_.min_stall : options_.start_time)) {
    close(ErrorKind::kDeviceLost, fmt::format("no frame for {:.1f} s", seconds(silent)));
  } else if (damaged >= limit(options_.start_time)) {
    close(ErrorKind::kDeviceLost,
          fmt::format("only damaged frames for {:.1f} s", seconds(damaged)));
  }
}

// Closes the camera. Failures until the next frame belong to the same loss.
void ReconnectingSource::close(ErrorKind kind, const std::string& why) {
  const auto now = options_.now();
  // The delay keeps growing for a camera that comes and goes.
  const bool was_stable =
      !lost_since_ && last_frame_ && *last_frame_ - back_since_ >= options_.max_delay;
  if (was_stable) delay_ = options_.first_delay;
  next_attempt_ = now + delay_;
  delay_ = std::min<Clock::duration>(delay_ * 2, options_.max_delay);
  note_loss(kind, why);
  camera_.reset();  // last: libcamera may end the process
}

void ReconnectingSource::note_loss(ErrorKind kind, const std::string& why) {
  if (lost_since_) {
    note_attempt(kind, why);
    return;
  }
  lost_since_ = kind_since_ = options_.now();
  last_kind_ = kind;
  logged_kinds_ = {kind};
  damage_noted_ = false;
  reason_ = why;
  if (was_there_) {
    log_warn("camera {} lost: {}; trying again", info_.name, why);
  } else {
    log_warn("waiting for camera {}: {}", info_.name, why);
  }
}

void ReconnectingSource::note_attempt(ErrorKind kind, const std::string& why) {
  const auto now = options_.now();
  if (kind != last_kind_) kind_since_ = now;
  last_kind_ = kind;
  if (now - kind_since_ < kLasting || !logged_kinds_.insert(kind).second) {
    log_debug("camera {}: {}", info_.name, why);
    return;
  }
  reason_ = why;
  log_warn("still waiting for camera {}: {}", info_.name, why);
}

void ReconnectingSource::note_return(Clock::time_point now) {
  if (was_there_) {
    log_info("camera {} is back after {:.1f} s", info_.name, seconds(now - *lost_since_));
  } else {
    log_info("source: {}", camera_->info().description);
  }
  was_there_ = true;
  lost_since_.reset();
  back_since_ = now;
}

void ReconnectingSource::note_damage(Clock::time_point now) {
  if (!damaged_since_) damaged_since_ = now;
  if (damage_noted_ || lost_since_) return;
  log_warn("camera {}: a damaged frame was skipped; further ones are skipped in silence",
           info_.name);
  damage_noted_ = true;
}

void ReconnectingSource::check_patience() const {
  const bool patient = options_.give_up_after.count() == 0;
  if (patient || !lost_since_ || options_.now() - *lost_since_ < options_.give_up_after) return;
  throw Error(ErrorKind::kDeviceLost,
              fmt::format("camera {} did not come{} within {:.4g} s: {}", info_.name,
                          was_there_ ? " back" : "", seconds(options_.give_up_after), reason_));
}

void ReconnectingSource::try_to_open() {
  try {
    camera_ = open_();
    opened();
  } catch (const Error& error) {
    if (!may_pass(error)) throw;
    close(error.kind(), error.what());
  }
}

// While a camera is away its device is absent, in use, or not yet readable for us: udev sets its
// group a moment after the kernel made it. Another device may have its name, too; but a name that
// has never been a camera's does not become one. Options that were right at the first attempt stay
// so: one that is wrong later is in a file that is being changed (camera.credentials).
bool ReconnectingSource::may_pass(const Error& error) const {
  if (dynamic_cast<const UnusableDevice*>(&error) != nullptr) return was_there_;
  if (error.kind() == ErrorKind::kUsage) return was_there_ || lost_since_;
  return error.kind() == ErrorKind::kDeviceLost || error.kind() == ErrorKind::kNoInput ||
         error.kind() == ErrorKind::kPermission;
}

void ReconnectingSource::wait(std::chrono::milliseconds timeout) {
  const auto now = options_.now();
  auto wait = std::min<Clock::duration>(next_attempt_ - now, timeout);
  if (options_.give_up_after.count() > 0 && lost_since_)
    wait = std::min(wait, *lost_since_ + options_.give_up_after - now);
  options_.sleep(wait);
}

// The duration of `stall_periods` periods; 0 if the rate is unknown.
Clock::duration ReconnectingSource::periods() const {
  const double fps = camera_->info().fps;
  if (fps <= 0) return Clock::duration::zero();
  const std::chrono::duration<double> periods(options_.stall_periods / fps);
  return std::chrono::duration_cast<Clock::duration>(periods);
}

}  // namespace lookout
