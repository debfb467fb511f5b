#include "platform/http/refusal_log.h"

#include <algorithm>
#include <utility>

namespace lookout {

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
