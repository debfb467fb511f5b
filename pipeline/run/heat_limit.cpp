#include "pipeline/run/heat_limit.h"

#include <algorithm>
#include <cmath>

namespace lookout {
namespace {

constexpr double kMargin = 2;             // K below the limit: what is held
constexpr double kWatched = 15;           // K below the limit: nothing begins before
constexpr double kHorizon = 20;           // seconds
constexpr double kBrakeHorizon = 60;      // seconds
constexpr double kWarming = 35;           // K, from idle to the full rate
constexpr double kGain = 1.5 / kWarming;  // share of the full rate for a kelvin
constexpr double kIntegralTime = 60;      // seconds
constexpr double kDeadBand = 0.3;         // K
constexpr double kHysteresis = 1.5;       // K below what is held
constexpr double kEndsAfter = 60;         // seconds
constexpr double kSmoothing = 2;          // seconds, of the temperature
constexpr double kSlopeSmoothing = 5;     // seconds
constexpr double kMaxStep = 10;           // seconds: after a pause, the past counts for no more
constexpr std::chrono::milliseconds kMinStep{990};  // a second, and what a timer is early

// The weight of a new value in an exponential smoothing.
double weight(double seconds, double time_constant) {
  return 1 - std::exp(-seconds / time_constant);
}

}  // namespace

std::optional<double> HeatLimit::rate() const {
  if (!share_) return std::nullopt;
  return std::max(kMinRate, *share_ * full_rate_);
}

double HeatLimit::set_point() const { return limit_ - kMargin; }

HeatLimit::Event HeatLimit::update(std::chrono::nanoseconds now, std::optional<double> temperature,
                                   double rate) {
  if (!temperature) {
    const bool is_missing = !last_ && !no_sensor_told_;
    no_sensor_told_ = true;
    return is_missing ? Event::kNoSensor : Event::kNone;
  }
  if (!last_) {
    last_ = now;
    temperature_ = *temperature;
    full_rate_ = rate;
    return Event::kNone;
  }
  if (now - *last_ < kMinStep) return Event::kNone;
  const double seconds = std::min(std::chrono::duration<double>(now - *last_).count(), kMaxStep);
  last_ = now;
  const double before = temperature_;
  smooth(seconds, *temperature);
  return share_ ? control(seconds, temperature_ - before) : begin(rate);
}

void HeatLimit::smooth(double seconds, double temperature) {
  const double change = (temperature - temperature_) * weight(seconds, kSmoothing);
  temperature_ += change;
  slope_ += (change / seconds - slope_) * weight(seconds, kSlopeSmoothing);
}

HeatLimit::Event HeatLimit::begin(double rate) {
  full_rate_ = std::max(full_rate_, rate);
  const bool is_near = temperature_ >= limit_ - kWatched;
  if (!is_near || temperature_ + kHorizon * slope_ < set_point()) return Event::kNone;
  const double present = full_rate_ > 0 ? rate / full_rate_ : 1;
  const double expected = temperature_ + kBrakeHorizon * slope_;
  share_ = std::clamp(present - (expected - set_point()) / kWarming, 0.0, 1.0);
  idle_seconds_ = 0;
  return Event::kStarted;
}

// `change`: of the smoothed temperature, in K. The differential form of a PI controller: at the
// ends of its range nothing adds up.
HeatLimit::Event HeatLimit::control(double seconds, double change) {
  const double error = set_point() - temperature_;
  const double integrated = std::abs(error) < kDeadBand ? 0 : error * seconds / kIntegralTime;
  const double min_share = full_rate_ > kMinRate ? kMinRate / full_rate_ : 1;
  share_ = std::clamp(*share_ + kGain * (integrated - change), min_share, 1.0);
  const bool limits = *share_ < 1 || error < kHysteresis;
  idle_seconds_ = limits ? 0 : idle_seconds_ + seconds;
  if (idle_seconds_ < kEndsAfter) return Event::kNone;
  share_.reset();
  return Event::kEnded;
}

}  // namespace lookout
