// A moment that is told right although the wall clock is set later.
#pragma once

#include <chrono>

namespace lookout {

// A board without a battery for its clock starts with the time of its last end, and the network
// sets the clock afterwards. A moment before that is told by the clock that was set.
class WallMoment {
 public:
  using Time = std::chrono::system_clock::time_point;

  static constexpr std::chrono::seconds kSetBy{1};  // a clock that was set, and not only slewed

  WallMoment() = default;
  // `time`: by the wall clock as it is now. `start`: as machine_start() now.
  explicit WallMoment(Time time) : WallMoment(time, machine_start()) {}
  WallMoment(Time time, Time start) : time_(time), start_(start) {}

  // By the wall clock as it is now.
  Time told() const { return told(machine_start()); }
  Time told(Time start) const;

  // When the machine was started, by the wall clock as it is now.
  static Time machine_start();

 private:
  Time time_;
  Time start_;
};

}  // namespace lookout
