// Whose button is held, and when it wants a picture.
#pragma once

#include <chrono>
#include <cstdint>
#include <opencv2/core/types.hpp>
#include <string>

namespace lookout {

// A press of a class's button on a page.
struct Hold {
  std::int64_t number = 0;  // TeachLibrary::begin_hold()
  std::string watch;
  std::string label;
  cv::Rect2d roi;  // of the watch
};

// One hold at a time, which lasts as long as the page renews it: it ends kLease after a phone is
// locked or lost its network. A tap, which ends before a frame came, wants one picture, too.
//
// No clock is read: times are of one that is never set, and never go back. Used by one thread at a
// time.
class HoldLease {
 public:
  using Time = std::chrono::milliseconds;

  static constexpr Time kLease{1500};
  static constexpr Time kEvery{500};  // from one picture to the next
  static constexpr Time kLongest{60'000};

  // Whether a hold runs, so that no other may begin.
  bool is_held(Time now) const { return !released_ && now < end(); }

  // Takes the place of the hold before.
  void begin(Hold hold, Time now);

  // Whether the hold of that number runs still; it then goes on for kLease.
  bool renew(std::int64_t number, Time now);

  // The button was let go. A hold of another number stays.
  void release(std::int64_t number);

  // At once, also for a tap: the camera is away.
  void stop();

  // The hold that wants the picture of this moment; null: none. The picture counts as taken.
  const Hold* take(Time now);

  // The last one.
  const Hold& hold() const { return hold_; }

 private:
  Time end() const;

  Hold hold_;
  bool released_ = true;
  bool wants_first_ = false;  // no picture was taken
  Time begun_{};
  Time renewed_{};
  Time taken_{};
};

}  // namespace lookout
