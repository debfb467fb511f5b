#include "platform/teach/teaching.h"

#include <algorithm>
#include <exception>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "platform/pictures/encode_picture.h"
#include "platform/pictures/jpeg_decoder.h"

namespace lookout {
namespace {

constexpr double kDarkNight = 40;  // mean brightness, 0..255
// Mean difference between the colors of a pixel, 0..255, of a camera that sees by infrared light.
constexpr double kColorless = 4;

// Whether pictures of the watch may be called so.
bool has_label(const TaughtWatch& watch, const std::string& label) {
  return label == kNoneOfThem ||
         std::find(watch.classes.begin(), watch.classes.end(), label) != watch.classes.end();
}

cv::Mat reduced(const cv::Mat& bgr) {
  const double scale = double{Teaching::kMaxSide} / std::max(bgr.cols, bgr.rows);
  if (scale >= 1) return bgr;
  cv::Mat small;
  cv::resize(bgr, small, {}, scale, scale, cv::INTER_AREA);
  return small;
}

// A picture of the watch, with how bright it is. `bgr`: as Teaching::add().
NewPicture new_picture(const std::string& watch, const TeachTime& time, const cv::Mat& bgr) {
  constexpr int kSmall = 64;
  NewPicture picture;
  picture.watch = watch;
  picture.time = time;
  cv::Mat small;
  cv::resize(bgr, small, {kSmall, kSmall}, 0, 0, cv::INTER_AREA);
  double brightness = 0;
  double color = 0;
  for (int y = 0; y < small.rows; ++y) {
    for (int x = 0; x < small.cols; ++x) {
      const auto& pixel = small.at<cv::Vec3b>(y, x);
      const auto [least, most] = std::minmax({pixel[0], pixel[1], pixel[2]});
      brightness += (pixel[0] + pixel[1] + pixel[2]) / 3.0;
      color += most - least;
    }
  }
  brightness /= kSmall * kSmall;
  picture.brightness = static_cast<float>(brightness);
  picture.night = brightness < kDarkNight || color / (kSmall * kSmall) < kColorless;
  return picture;
}

}  // namespace

HoldStatus Teaching::status(const TeachNow& now) const {
  HoldStatus status = counts_;
  status.held = lease_.is_held(now.uptime);
  return status;
}

void Teaching::check(std::int64_t number) const {
  if (number == counts_.number && number != 0) return;
  throw TeachError(TeachProblem::kNoHold, "there is no such hold");
}

HoldStatus Teaching::begin_hold(const std::string& watch, const std::string& label,
                                const TeachNow& now) {
  const auto check_free = [&]() REQUIRES(hold_mutex_) {
    if (!online_) throw TeachError(TeachProblem::kAway, "the camera is away");
    if (lease_.is_held(now.uptime)) {
      throw TeachError(TeachProblem::kHeld, "another button is held already");
    }
  };
  {
    const MutexLock lock(hold_mutex_);
    check_free();
  }
  Hold hold{0, watch, label, {}};
  with_library([&](TeachLibrary& library) {
    hold.roi = library.watch(watch).roi;
    hold.number = library.begin_hold(watch, label, now.wall);
  });
  const MutexLock lock(hold_mutex_);
  check_free();
  counts_ = {hold.number, watch, label};
  lease_.begin(std::move(hold), now.uptime);
  return status(now);
}

HoldStatus Teaching::renew_hold(std::int64_t number, const TeachNow& now) {
  const MutexLock lock(hold_mutex_);
  check(number);
  lease_.renew(number, now.uptime);
  return status(now);
}

HoldStatus Teaching::release_hold(std::int64_t number, const TeachNow& now) {
  const MutexLock lock(hold_mutex_);
  check(number);
  lease_.release(number);
  return status(now);
}

HoldStatus Teaching::hold(std::int64_t number, const TeachNow& now) const {
  const MutexLock lock(hold_mutex_);
  check(number);
  return status(now);
}

std::optional<HoldStatus> Teaching::last_hold(const TeachNow& now) const {
  const MutexLock lock(hold_mutex_);
  if (counts_.number == 0) return std::nullopt;
  return status(now);
}

std::optional<Hold> Teaching::take(std::chrono::milliseconds uptime) {
  const MutexLock lock(hold_mutex_);
  const Hold* const hold = lease_.take(uptime);
  if (hold == nullptr) return std::nullopt;
  return *hold;
}

void Teaching::ask_look(const std::string& watch, const TeachNow& now) {
  const MutexLock lock(hold_mutex_);
  looked_ = watch;
  look_until_ = now.uptime + kLooked;
}

std::optional<std::string> Teaching::take_look(std::chrono::milliseconds uptime) {
  const MutexLock lock(hold_mutex_);
  if (uptime >= look_until_ || uptime < look_due_ || lease_.is_held(uptime)) return std::nullopt;
  look_due_ = uptime + kLookEach;
  return looked_;
}

void Teaching::set_online(bool online) {
  const MutexLock lock(hold_mutex_);
  online_ = online;
  if (!online) lease_.stop();
}

TaughtEventPicture Teaching::add_event(const TaughtEvent& event, const TeachTime& now) {
  DecodeLimits limits;
  limits.pixels = std::int64_t{kMaxSide} * kMaxSide;
  DecodedPicture decoded;
  decode_jpeg(event.jpeg, limits, {}, decoded);
  if (decoded.problem != DecodeProblem::kNone) {
    throw TeachError(TeachProblem::kDamagedPicture, "the event's picture is damaged");
  }
  NewPicture picture = new_picture(event.watch, event.time, decoded.bgr);
  picture.label = event.label;
  picture.origin = PictureOrigin::kEvent;
  return with_library([&](TeachLibrary& library) -> TaughtEventPicture {
    if (!has_label(library.watch(event.watch), event.label)) {
      throw TeachError(TeachProblem::kNoClass, "the watch has no such class", event.label);
    }
    const auto before = library.event_picture(event.watch, event.time);
    if (!before) return {library.picture(library.add_picture(picture, event.jpeg)), true};
    library.change({{before->number, event.label, /*trashed=*/false, before->revision}}, now);
    return {library.picture(before->number), false};
  });
}

// Others use the library between the parts. What the trainer keeps goes also when the library
// cannot be written: that makes room.
void Teaching::purge(const TeachTime& now) {
  const auto purge_part = [&now](TeachLibrary& library) { return library.purge(now); };
  std::exception_ptr problem;
  try {
    while (with_library(purge_part) > 0) {
    }
  } catch (const TeachError&) {
    problem = std::current_exception();
  }
  if (trainer_) {
    trainer_->keep_only(with_library([](TeachLibrary& library) { return library.contents(); }));
  }
  if (problem) std::rethrow_exception(problem);
}

bool Teaching::is_wanted(const Hold& hold, const cv::Mat& bgr) {
  bool is_near_copy = false;
  {
    const MutexLock lock(add_mutex_);
    if (std::exchange(near_copies_of_, hold.number) != hold.number) near_copies_ = {};
    View view;
    view.roi = hold.roi;
    is_near_copy = near_copies_.is_near_copy(bgr(viewed_part(bgr.size(), view)));
  }
  const MutexLock lock(hold_mutex_);
  if (!is_near_copy || counts_.number != hold.number || counts_.kept < kAlwaysKept) return true;
  ++counts_.similar;
  return false;
}

void Teaching::add(const Hold& hold, const cv::Mat& bgr, const TeachTime& time) {
  if (!is_wanted(hold, bgr)) return;
  NewPicture picture = new_picture(hold.watch, time, bgr);
  picture.label = hold.label;
  picture.hold = hold.number;
  std::optional<TeachProblem> problem;
  std::string why;
  try {
    const std::string jpeg = encode_jpeg(reduced(bgr), kQuality);
    with_library([&](TeachLibrary& library) { library.add_picture(picture, jpeg); });
  } catch (const TeachError& error) {
    problem = error.problem();
    why = error.what();
  } catch (const std::exception& error) {
    problem = TeachProblem::kStorage;
    why = error.what();
  }
  const MutexLock lock(hold_mutex_);
  if (counts_.number != hold.number) return;
  counts_.kept += problem ? 0 : 1;
  counts_.problem = problem;
  counts_.why = why;
}

void Teaching::add_found(const FoundPicture& found, const cv::Mat& bgr, const TeachTime& time) {
  NewPicture picture = new_picture(found.watch, time, bgr);
  picture.guess = found.guess;
  picture.origin = found.origin;
  const std::string jpeg = encode_jpeg(reduced(bgr), kQuality);
  with_library([&](TeachLibrary& library) {
    if (!has_label(library.watch(found.watch), found.guess)) picture.guess.clear();
    library.add_picture(picture, jpeg);
  });
}

void Teaching::look(const std::string& watch, const cv::Mat& bgr) {
  if (!trainer_) return;
  try {
    with_library([&](TeachLibrary& library) {
      const auto file = [&library](std::int64_t number) { return library.file(number); };
      trainer_->look(library.watch(watch), library.labelled(watch), file, reduced(bgr));
    });
  } catch (const std::exception&) {
    return;  // the watch has just been removed, or the library is damaged, which others tell
  }
}

}  // namespace lookout
