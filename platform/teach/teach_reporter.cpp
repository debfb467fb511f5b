#include "platform/teach/teach_reporter.h"

#include <time.h>

#include <algorithm>
#include <random>
#include <utility>

#include "pipeline/core/frame.h"
#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/run/scheduling.h"
#include "platform/pictures/encode_picture.h"
#include "platform/pictures/near_copies.h"
#include "platform/system/since_boot.h"

namespace lookout {
namespace {

// As NewPicture::guess. A label below the threshold is not told.
std::string guess_of(const Result& result) {
  if (result.top.empty()) return {};
  const Prediction& best = result.top.front();
  return best.index == result.model->unknown ? kNoneOfThem : std::string(best.label);
}

}  // namespace

// What the frame loop puts down and the thread takes up.
class TeachReporter::Desk {
 public:
  struct Held {
    Hold hold;
    cv::Mat bgr;
    TeachTime time;
  };
  struct Looked {
    std::string watch;  // that somebody asks about
    cv::Mat bgr;
  };
  struct Found {
    FoundPicture picture;
    cv::Rect2d roi;  // of the watch
    cv::Mat bgr;
    TeachTime time;
  };

  Desk(std::shared_ptr<Teaching> teaching, const View& view)
      : teaching_(std::move(teaching)), view_(view) {}

  // These take the place of one that waits.
  void put(Held held) {
    const MutexLock lock(mutex_);
    held_ = std::move(held);
  }
  void put(Looked looked) {
    const MutexLock lock(mutex_);
    looked_ = std::move(looked);
  }
  // Whether there is room for a picture that is found.
  bool has_room() {
    const MutexLock lock(mutex_);
    return !found_;
  }
  void put(Found found) {
    const MutexLock lock(mutex_);
    found_ = std::move(found);
  }

  // The thread's work.
  void work(const TeachNow& now) {
    if (!std::exchange(lowered_, true)) lower_this_thread_priority();
    std::optional<Held> held;
    std::optional<Looked> looked;
    std::optional<Found> found;
    {
      const MutexLock lock(mutex_);
      held.swap(held_);
      looked.swap(looked_);
      found.swap(found_);
    }
    if (held) add(*held);
    held.reset();
    if (looked) teaching_->look(looked->watch, turned(looked->bgr, view_));
    looked.reset();
    if (found) keep(*found);
    found.reset();
    if (now.uptime >= purge_due_) purge(now);
  }

 private:
  void add(const Held& held) {
    const cv::Mat bgr = turned(held.bgr, view_);
    teaching_->add(held.hold, bgr, held.time);
    teaching_->look(held.hold.watch, bgr);
  }

  void keep(const Found& found) {
    const cv::Mat bgr = turned(found.bgr, view_);
    View part;
    part.roi = found.roi;
    NearCopies& near_copies = near_copies_[found.picture.watch];
    if (near_copies.is_near_copy(bgr(viewed_part(bgr.size(), part)))) return;
    try {
      teaching_->add_found(found.picture, bgr, found.time);
    } catch (const TeachError& error) {
      if (error.problem() != TeachProblem::kNoWatch) warn(error.what());  // the watch was deleted
    } catch (const std::exception& error) {
      warn(error.what());
    }
  }

  // The same one again is not logged.
  void warn(const std::string& problem) {
    if (std::exchange(last_problem_, problem) == problem) return;
    log_warn("teach: pictures without a label cannot be kept: {}", problem);
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
  // The thread's own.
  bool lowered_ = false;
  std::chrono::milliseconds purge_due_{};
  std::map<std::string, NearCopies> near_copies_;  // of what was found, by watch
  std::string last_problem_;

  Mutex mutex_;
  std::optional<Held> held_ GUARDED_BY(mutex_);
  std::optional<Looked> looked_ GUARDED_BY(mutex_);
  std::optional<Found> found_ GUARDED_BY(mutex_);
};

TeachReporter::TeachReporter(std::shared_ptr<Teaching> teaching, const View& view,
                             ReadClocks clocks, Draw draw, std::chrono::seconds patience)
    : teaching_(std::move(teaching)),
      clocks_(std::move(clocks)),
      draw_(std::move(draw)),
      patience_(patience),
      desk_(std::make_shared<Desk>(teaching_, view)),
      worker_("teach", [desk = desk_](const TeachNow& now, const auto&) { desk->work(now); }) {}

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
  const auto wall = std::chrono::system_clock::now();
  return {teach_time(std::chrono::floor<std::chrono::milliseconds>(wall)),
          std::chrono::floor<std::chrono::milliseconds>(since_boot())};
}

double TeachReporter::draw_number() {
  thread_local std::minstd_rand numbers{std::random_device{}()};
  return std::uniform_real_distribution<double>()(numbers);
}

// A frame of several watches is reported for each.
void TeachReporter::report(const Result& result, const Frame& frame) {
  const bool is_new = std::exchange(last_frame_, frame.sequence) != frame.sequence;
  const bool is_taught = result.watch && result.watch->taught && !result.reused;
  if (!is_new && !is_taught) return;
  const TeachNow now = clocks_();
  if (is_new) {
    if (const std::optional<Hold> hold = teaching_->take(now.uptime)) {
      desk_->put(Desk::Held{*hold, whole_picture(frame).clone(), now.wall});
      worker_.put(now);
    } else if (const auto watch = teaching_->take_look(now.uptime)) {
      desk_->put(Desk::Looked{*watch, whole_picture(frame).clone()});
      worker_.put(now);
    }
  }
  if (is_taught) find(result, frame, now);
}

// `hour`: the beginning of the time of which each moment is as likely.
void TeachReporter::draw_random(Due& due, std::chrono::milliseconds hour) {
  constexpr std::chrono::milliseconds kWhole = kRandomEvery;
  due.hour = hour;
  due.random = hour + std::chrono::milliseconds(
                          static_cast<std::int64_t>(draw_() * static_cast<double>(kWhole.count())));
}

TeachReporter::Due& TeachReporter::due_of(const std::string& watch,
                                          std::chrono::milliseconds uptime) {
  const auto [found, is_new] = dues_.try_emplace(watch);
  if (is_new) draw_random(found->second, uptime);
  return found->second;
}

void TeachReporter::find(const Result& result, const Frame& frame, const TeachNow& now) {
  const WatchInfo& watch = *result.watch;
  Due& due = due_of(watch.name, now.uptime);
  const bool unsure = now.uptime >= due.unsure && is_unsure(result);
  const bool random = now.uptime >= due.random;
  if ((!unsure && !random) || !desk_->has_room()) return;
  FoundPicture picture{watch.name, guess_of(result),
                       unsure ? PictureOrigin::kUnsure : PictureOrigin::kRandom};
  desk_->put(Desk::Found{std::move(picture), watch.roi, whole_picture(frame).clone(), now.wall});
  worker_.put(now);
  if (unsure) {
    due.unsure = now.uptime + kUnsureEvery;
  } else {
    draw_random(due, std::max(due.hour + kRandomEvery, now.uptime));
  }
}

void TeachReporter::poll() {
  const TeachNow now = clocks_();
  if (now.uptime < purge_due_) return;
  purge_due_ = now.uptime + kPurge;
  worker_.put(now);
}

void TeachReporter::status(const CameraStatus& status) { teaching_->set_online(status.online); }

}  // namespace lookout
