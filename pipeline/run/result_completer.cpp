#include "pipeline/run/result_completer.h"

#include <algorithm>
#include <chrono>

namespace lookout {

void ResultCompleter::complete(ClassifiedFrame& classified, std::uint64_t dropped) {
  using std::chrono::system_clock;
  const Frame& frame = classified.frame;
  Result& result = classified.result;
  // A video's states last as long in it, however fast it is decoded.
  const auto time = frame.media_time ? Clock::time_point(*frame.media_time) : frame.captured;
  result.state_changed = tracker_.update(classified.scores, labels_, time);
  result.state = tracker_.state();
  result.previous_state = tracker_.previous();
  result.media_time = frame.media_time;
  result.dropped = dropped;
  // Some drivers' time stamps are ahead of the clock.
  result.frame_age = std::max(Clock::duration::zero(), Clock::now() - frame.captured);
  result.timestamp =
      system_clock::now() - std::chrono::duration_cast<system_clock::duration>(result.frame_age);
}

}  // namespace lookout
