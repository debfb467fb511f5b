// Which regions of a frame are classified when there are several.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/run/classification_rate.h"

namespace lookout {

// A region is due when it changed, or when its last result is older than it may be. Of those that
// are due the one with the oldest result comes first, so that none waits for longer than it takes
// to classify all others once.
//
// A rate counts classifications: with N regions that are all due, each gets an N-th of it. With one
// region the frames are those that ClassificationRate chooses.
//
// It has no clock: times are those of frames, on any clock that does not go back. Not thread-safe.
// Allocates in its constructor alone.
class WatchScheduler {
 public:
  using Time = std::chrono::nanoseconds;

  // `at_least_every`: how old the result of each region may become, at least one. `rate`: at most
  // so many classifications a second, above 0; nothing: any number.
  WatchScheduler(const std::vector<std::chrono::milliseconds>& at_least_every,
                 std::optional<double> rate);

  std::size_t regions() const { return regions_.size(); }

  // Takes effect with the next frame.
  void set_rate(std::optional<double> rate);

  // Called once for each new frame, with its time. Returns whether the rate allows to classify
  // anything of it.
  bool wanted(Time time);
  // What wanted() would return. The frame is not counted.
  bool would_want(Time time) const;

  // Whether the region has no result, or one that is too old at `time`.
  bool is_due(std::size_t region, Time time) const;

  // Sorts the regions that are due, the oldest result first, and leaves as many as the rate allows
  // for the frame that wanted() was asked about: at least one.
  void choose(std::vector<std::size_t>& due) const;

  // The region is classified now: the result is as old as the frame, of `time`.
  void classified(std::size_t region, Time time);

  // All results are gone: the camera was away.
  void forget();

 private:
  struct Region {
    std::chrono::milliseconds at_least_every;
    std::optional<Time> classified{};  // the time of the last result
    std::uint64_t turn = 0;            // counts the classifications of all; 0: none yet
  };

  void earn(Time time);

  std::vector<Region> regions_;
  ClassificationRate chosen_;
  std::optional<double> rate_;
  std::optional<Time> last_time_;  // of the last frame
  Time last_interval_{};           // between the last two
  double allowed_ = 1;             // classifications of this frame; less than one is saved
  std::uint64_t turns_ = 0;
};

}  // namespace lookout
