#include "platform/http/rate_limit.h"

#include <algorithm>

namespace lookout {

std::optional<std::chrono::seconds> RateLimit::wait(const std::string& address,
                                                    Clock::time_point now) const {
  const auto found = full_.find(address);
  if (found == full_.end()) return std::nullopt;
  const auto next = found->second - pause_ * (burst_ - 1);
  if (next <= now) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(next - now);
}

void RateLimit::count(const std::string& address, Clock::time_point now) {
  if (full_.count(address) == 0 && full_.size() == kMaxAddresses) {
    full_.erase(std::min_element(
        full_.begin(), full_.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; }));
  }
  Clock::time_point& full = full_[address];
  full = std::max(full, now) + pause_;
}

}  // namespace lookout
