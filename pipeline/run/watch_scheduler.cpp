#include "pipeline/run/watch_scheduler.h"

#include <algorithm>

namespace lookout {

WatchScheduler::WatchScheduler(const std::vector<std::chrono::milliseconds>& at_least_every,
                               std::optional<double> rate)
    : chosen_(rate), rate_(rate) {
  regions_.reserve(at_least_every.size());
  for (const auto every : at_least_every) regions_.push_back({every});
}

void WatchScheduler::set_rate(std::optional<double> rate) {
  chosen_.set(rate);
  rate_ = rate;
}

bool WatchScheduler::wanted(Time time) {
  if (rate_ && regions_.size() > 1) earn(time);
  return chosen_.wanted(time);
}

bool WatchScheduler::would_want(Time time) const {
  ClassificationRate ahead = chosen_;
  return ahead.wanted(time);
}

// A rate below the camera's allows one classification for each frame that is chosen. One above
// allows several, of which what is not used is kept for the next frame alone. A pause is not made
// up for: it counts as the interval before.
void WatchScheduler::earn(Time time) {
  const Time interval = last_time_ && time > *last_time_ ? time - *last_time_ : Time(0);
  const double earned =
      *rate_ * std::chrono::duration<double>(std::min(interval, last_interval_)).count();
  allowed_ = std::clamp(allowed_ + earned, 1.0, earned > 1 ? earned + 1 : 1.0);
  last_interval_ = interval;
  last_time_ = time;
}

bool WatchScheduler::is_due(std::size_t region, Time time) const {
  const auto& [at_least_every, classified, turn] = regions_[region];
  return !classified || time < *classified || time - *classified >= at_least_every;
}

void WatchScheduler::choose(std::vector<std::size_t>& due) const {
  if (due.size() < 2) return;
  std::sort(due.begin(), due.end(), [this](std::size_t a, std::size_t b) {
    const Region& one = regions_[a];
    const Region& other = regions_[b];
    return one.turn != other.turn ? one.turn < other.turn : a < b;
  });
  if (rate_) due.resize(std::min(due.size(), static_cast<std::size_t>(allowed_)));
}

void WatchScheduler::classified(std::size_t region, Time time) {
  regions_[region].classified = time;
  regions_[region].turn = ++turns_;
  allowed_ = std::max(0.0, allowed_ - 1);
}

void WatchScheduler::forget() {
  for (Region& region : regions_) {
    region.classified.reset();
    region.turn = 0;
  }
}

}  // namespace lookout
