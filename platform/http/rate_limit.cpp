#include "platform/http/rate_limit.h"

#include <algorithm>
#include <utility>

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

bool RefusalLog::refuse(const std::string& address, Clock::time_point now) {
  if (refused_.count(address) == 0 && refused_.size() == kMaxAddresses) {
    refused_.erase(std::min_element(
        refused_.begin(), refused_.end(),
        [](const auto& one, const auto& other) { return one.second.last < other.second.last; }));
  }
  const auto [found, added] = refused_.try_emplace(address);
  Refused& refused = found->second;
  if (!added && now - refused.last >= kForget) refused = {};
  refused.last = now;
  if (refused.logged || lines_.wait("", now)) return false;
  lines_.count("", now);
  refused.logged = true;
  return true;
}

bool RefusalLog::let_in(const std::string& address) {
  const auto found = refused_.find(address);
  if (found == refused_.end() || !found->second.logged) return false;
  return !std::exchange(found->second.let_in, true);
}

}  // namespace lookout
