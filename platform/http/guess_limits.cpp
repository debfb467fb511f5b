#include "platform/http/guess_limits.h"

#include <algorithm>

namespace lookout {

std::optional<GuessLimits::Refusal> GuessLimits::common_refusal(const std::string& address,
                                                                Clock::time_point now) const {
  if (!address.empty()) {
    if (const auto wait = of_address_.wait(address, now)) return Refusal{*wait, false};
  }
  if (const auto wait = of_all_.wait("", now)) return Refusal{*wait, true};
  return std::nullopt;
}

bool GuessLimits::has_reserve(const std::string& address, Clock::time_point now) const {
  const auto known = known_.find(address);
  return known != known_.end() && now - known->second < kKnownFor && !reserves_.wait(address, now);
}

std::optional<GuessLimits::Refusal> GuessLimits::refusal(const std::string& address,
                                                         Clock::time_point now) const {
  const auto refused = common_refusal(address, now);
  if (refused && has_reserve(address, now)) return std::nullopt;
  return refused;
}

void GuessLimits::count(const std::string& address, Clock::time_point now) {
  if (common_refusal(address, now) && has_reserve(address, now)) {
    return reserves_.count(address, now);
  }
  if (!address.empty()) of_address_.count(address, now);
  of_all_.count("", now);
}

void GuessLimits::note_right(const std::string& address, Clock::time_point now) {
  if (address.empty()) return;
  if (known_.count(address) == 0 && known_.size() == kMaxKnown) {
    known_.erase(std::min_element(
        known_.begin(), known_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; }));
  }
  known_[address] = now;
}

}  // namespace lookout
