// Results, states, statistics and the camera's status as server-sent events.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "platform/http/http_message.h"
#include "platform/http/live_slots.h"

namespace lookout {

struct ListenerOptions {
  double rate = 10;     // of events `classification` a second, 0.01 to 10; 0: none
  std::string last_id;  // of the last event `state` that the client got before; empty: none
};

// Used by one thread, but for the slots. Events are `classification` (the newest result), `state`,
// `stats` and `status`; their data is the JSON line. Each change of the state is sent, with an id:
// that of the run and the frame's number. Of several statistics and statuses that come between two
// calls of advance(), each listener gets the newest.
//
// Where watches have names, `classification` is the newest result of each, the id has the watch's
// name behind a dot, and an event `watches` lists them, at the begin and when they were replaced:
// an empty list when the last one has gone.
class EventFeed {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::chrono::seconds kSilence{15};  // then a comment, so that proxies wait on
  // Events of a listener for each watch; then the oldest is dropped.
  static constexpr std::size_t kMaxQueue = 80;

  // `slots` and `lines` outlive this, and this its streams.
  EventFeed(LiveSlots& slots, LiveLines& lines, std::size_t max_listeners);
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Begins with the status, the watches, the statistics and the state as they are; or, for a client
  // that comes back, with the changes since then that are kept instead of the state, first. Null
  // when there are as many listeners as allowed.
  std::unique_ptr<HttpStream> open(const ListenerOptions& options, Clock::time_point now);

  // Sends what is new. To be called when something came and every kInterval while is_busy().
  void advance(Clock::time_point now);

  bool is_busy() const { return !listeners_.empty(); }
  std::uint64_t dropped() const { return dropped_; }  // events, of all listeners

 private:
  class Listener;
  using Event = std::shared_ptr<const std::string>;

  // An event with the number of its result among those of all watches.
  struct Newest {
    LiveWatch watch;
    Event event;  // null: not needed yet
  };

  void look_at_watches();
  std::vector<Newest> newest_results() const;
  std::vector<LiveResult> changes_since(const std::string& id) const;
  Event state_event(const LiveResult& change);
  void send_states(std::uint64_t count);
  void send(const Event& event);

  LiveSlots& slots_;
  LiveLines& lines_;
  const std::size_t max_listeners_;
  const std::string run_;  // begins the ids: numbers of frames begin again with each run
  std::set<Listener*> listeners_;
  LiveSlots::Counts seen_;
  Clock::time_point now_;
  std::string watches_;     // the line of the event
  bool has_names_ = false;  // of watches
  std::size_t max_queue_ = kMaxQueue;
  std::uint64_t dropped_ = 0;
};

}  // namespace lookout
