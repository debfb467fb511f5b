#include "platform/teach/hold_lease.h"

#include <algorithm>
#include <utility>

namespace lookout {

HoldLease::Time HoldLease::end() const { return std::min(renewed_ + kLease, begun_ + kLongest); }

void HoldLease::begin(Hold hold, Time now) {
  hold_ = std::move(hold);
  released_ = false;
  wants_first_ = true;
  begun_ = now;
  renewed_ = now;
}

bool HoldLease::renew(std::int64_t number, Time now) {
  if (number != hold_.number || !is_held(now)) return false;
  renewed_ = now;
  return true;
}

void HoldLease::release(std::int64_t number) {
  if (number == hold_.number) released_ = true;
}

void HoldLease::stop() {
  released_ = true;
  wants_first_ = false;
}

const Hold* HoldLease::take(Time now) {
  const bool wants = wants_first_ ? now < end() : is_held(now) && now - taken_ >= kEvery;
  if (!wants) return nullptr;
  wants_first_ = false;
  taken_ = now;
  return &hold_;
}

}  // namespace lookout
