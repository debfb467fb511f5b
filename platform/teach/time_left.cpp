#include "platform/teach/time_left.h"

#include <algorithm>

namespace lookout {
namespace {

using Seconds = std::chrono::duration<double>;

// Of less nothing is told: the first steps are not like all.
constexpr double kLeastDone = 0.05;
constexpr Seconds kLeastTime{1};

constexpr Seconds kLateness{5};  // after the expected end

}  // namespace

void TimeLeft::note(double done, Clock::time_point now) {
  if (!begin_ || done <= begin_->done) {
    begin_ = Note{done, now};
    notes_ = 0;
  } else {
    ++notes_;
  }
  last_ = Note{done, now};
}

// By the mean rate since the begin, which later notes change less and less.
std::optional<std::chrono::seconds> TimeLeft::at(Clock::time_point now) const {
  if (!begin_) return std::nullopt;
  const double done = last_->done - begin_->done;
  const Seconds passed = last_->at - begin_->at;
  if (done < kLeastDone || passed < kLeastTime) return std::nullopt;
  const double ahead = (1 - last_->done) / done;  // of the time that has passed
  const Seconds waited = now - last_->at;
  if (waited > passed * ahead + kLateness) return std::nullopt;
  // It counts down until the next note is due. What is late makes the rate lower.
  const Seconds due = std::min(waited, passed / notes_);
  const Seconds left = (passed + waited - due) * ahead - due;
  using std::chrono::seconds;
  return std::max(seconds(1), std::chrono::ceil<seconds>(left));
}

}  // namespace lookout
