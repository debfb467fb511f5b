// How long some work still takes, by how fast it went so far.
#pragma once

#include <chrono>
#include <optional>

namespace lookout {

// Used by one thread at a time.
class TimeLeft {
 public:
  using Clock = std::chrono::steady_clock;

  // The work tells that this share of it is done, 0..1. Time before it first gets on is not
  // counted: a start takes as long as it takes, whatever follows.
  void note(double done, Clock::time_point now);

  // At least a second. Nothing: too little was done to tell, or it should have ended by now.
  std::optional<std::chrono::seconds> at(Clock::time_point now) const;

 private:
  struct Note {
    double done;
    Clock::time_point at;
  };

  std::optional<Note> begin_;
  std::optional<Note> last_;
  int notes_ = 0;  // since begin_
};

}  // namespace lookout
