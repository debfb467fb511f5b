#include "pipeline/run/result_completer.h"

#include <algorithm>
#include <chrono>

namespace lookout {

void ResultCompleter::complete(ClassifiedFrame& classified, std::uint64_t dropped,
                               bool keep_scores) {
  using std::chrono::system_clock;
  const Frame& frame = classified.frame;
  Result& result = classified.result;
  if (result.reused) {
    result.top = top_;
    result.model = model_;
  } else {
    if (keep_scores) {
      scores_ = classified.scores;
    } else {
      scores_.swap(classified.scores);
    }
    top_ = result.top;
    model_ = result.model;
  }
  // A video's states last as long in it, however fast it is decoded.
  result.state_changed = tracker_.update(scores_, model_, time_of(frame), !result.reused);
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
