// Results, states, statistics and the camera's status as server-sent events.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "pipeline/frame.h"
#include "platform/http/http_message.h"
#include "platform/http/live_lines.h"
#include "platform/http/live_slots.h"

namespace lookout {

// Used by one thread, but for the slots. Events are `classification` (at most one in kInterval),
// `state`, `stats` and `status`; their data is the JSON line. Of several that come between two
// calls of advance(), each listener gets the newest of its kind.
class EventFeed {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::chrono::seconds kSilence{15};  // then a comment, so that proxies wait on
  static constexpr std::size_t kMaxQueue = 64;  // events for a listener; then the oldest is dropped

  // `slots` and `lines` outlive this, and this its streams.
  EventFeed(LiveSlots& slots, LiveLines& lines, std::size_t max_listeners);
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Begins with the status, the statistics and the state as they are. Null when there are as many
  // listeners as allowed.
  std::unique_ptr<HttpStream> open(Clock::time_point now);

  // Sends what is new. To be called when something came and every kInterval while is_busy().
  void advance(Clock::time_point now);

  bool is_busy() const { return !listeners_.empty(); }
  std::uint64_t dropped() const { return dropped_; }  // events, of all listeners

 private:
  class Listener;

  void send(const std::string& type, const std::string& line);

  LiveSlots& slots_;
  LiveLines& lines_;
  const std::size_t max_listeners_;
  std::set<Listener*> listeners_;
  LiveSlots::Counts seen_;
  Clock::time_point now_;
  Clock::time_point last_classification_;
  std::uint64_t dropped_ = 0;
};

}  // namespace lookout
