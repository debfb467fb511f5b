#include "platform/system/wall_moment.h"

#include "platform/system/since_boot.h"

namespace lookout {

WallMoment::Time WallMoment::told(Time start) const {
  const auto by = start - start_;
  return std::chrono::abs(by) < kSetBy ? time_ : time_ + by;
}

WallMoment::Time WallMoment::machine_start() {
  return std::chrono::system_clock::now() -
         std::chrono::duration_cast<Time::duration>(since_boot());
}

}  // namespace lookout
