// Which frames are classified when not every one of them has to be.
#pragma once

#include <chrono>
#include <optional>

namespace lookout {

// Chooses the frames that lie nearest to evenly spaced points in time. The points follow each
// other by exactly 1/rate, so that the mean rate is kept although the frames between which they
// fall come at times of their own, and so that frames that are late or early by less than a quarter
// of the camera's interval change no choice. After a pause, the points begin again with the first
// frame: what was missed is not made up for.
//
// It has no clock. Not thread-safe. Allocates nothing.
class ClassificationRate {
 public:
  // `rate`: at most so many classifications a second, above 0; nothing: every frame.
  explicit ClassificationRate(std::optional<double> rate = std::nullopt) { set(rate); }

  // Takes effect with the next frame. The next point follows the last one by the new interval.
  void set(std::optional<double> rate);

  // Called once for each new frame, with its time on any clock: the capture time of a live source,
  // the media time of a video. Returns whether the frame is to be classified; others are not
  // wanted. A time before that of the last frame begins anew: that frame is wanted.
  bool wanted(std::chrono::nanoseconds time);

 private:
  using Duration = std::chrono::nanoseconds;

  void observe(Duration time);

  Duration interval_{};                // between two points; 0: every frame is wanted
  std::optional<Duration> last_time_;  // of the last frame
  Duration frame_interval_{};          // of the camera, smoothed; 0: not known yet
  Duration point_{};                   // the one that the last wanted frame was chosen for
};

}  // namespace lookout
