// Decides which message is sent, and when.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"
#include "platform/reporters/log_once.h"
#include "platform/webhook/webhook_settings.h"
#include "platform/webhook/webhook_transport.h"

namespace lookout {

struct WebhookMessage {
  MessageFields fields;
  std::string jpeg;  // empty: none is sent
};

// Of a run. Any thread reads them.
struct WebhookCounters {
  std::atomic<std::uint64_t> sent = 0;     // messages
  std::atomic<std::uint64_t> failed = 0;   // requests
  std::atomic<std::uint64_t> dropped = 0;  // messages that were not sent
};

// Tests pass their own.
struct WebhookChance {
  std::function<Clock::time_point()> now = Clock::now;
  std::function<double()> random;  // 0..1; empty: a generator's
};

// Sends one message after the other, the one that has waited longest first. Of each watch one
// message waits, the newest. A request that fails is sent again, after 1 s, 2 s, 4 s and so on up
// to 5 min (or as long as the server says, up to 5 min), each less by up to a quarter, for as long
// as nothing newer came. One that the server refuses for good (4xx other than 408, 425 and 429, and
// redirections) is dropped. Each kind of failure is logged once until a message was sent; lines
// have the host and the status alone. Used by one thread, but for the counters.
class WebhookSender {
 public:
  static constexpr std::chrono::seconds kFirstDelay{1};
  static constexpr std::chrono::seconds kMaxDelay{300};

  // `transport` outlives this.
  WebhookSender(WebhookSettings settings, WebhookTransport& transport,
                std::shared_ptr<WebhookCounters> counters, WebhookChance chance = {});

  void put(WebhookMessage message);
  // Forgets what waits of watches for which `is_watched` is false.
  void keep(const std::function<bool(const std::string& watch)>& is_watched);
  // Begins and ends requests. Never waits.
  void advance();
  // When advance() has to be called, unless the transport has something to do.
  Clock::time_point next_due() const;
  // Whether a request is on its way, or could be before `time`.
  bool is_busy(Clock::time_point time) const;
  // Counts what waits as dropped.
  void drop_all();

 private:
  void begin();
  void end(const WebhookOutcome& outcome);
  void tell_failure(const WebhookOutcome& outcome, bool again);
  void take_back();
  void delay(const WebhookOutcome& outcome);

  const WebhookSettings settings_;
  WebhookTransport& transport_;
  const std::shared_ptr<WebhookCounters> counters_;
  const WebhookChance chance_;
  std::deque<WebhookMessage> waiting_;        // of each watch at most one
  std::optional<WebhookMessage> on_its_way_;  // its request is the transport's
  Clock::time_point not_before_{};            // when the next request may begin
  int failures_ = 0;                          // in a row
  LogOnce logged_;
};

}  // namespace lookout
