#include "platform/webhook/webhook_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr double kJitter = 0.25;
constexpr int kRequestTimeout = 408;
constexpr int kTooEarly = 425;
constexpr int kTooManyRequests = 429;

double webhook_random() {
  static thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

WebhookChance with_random(WebhookChance chance) {
  if (!chance.random) chance.random = webhook_random;
  return chance;
}

bool is_sent(const WebhookOutcome& outcome) {
  return outcome.status >= 200 && outcome.status < 300;
}

bool may_succeed_later(const WebhookOutcome& outcome) {
  if (outcome.status < 300 || outcome.status >= 500) return true;
  return outcome.status == kRequestTimeout || outcome.status == kTooEarly ||
         outcome.status == kTooManyRequests;
}

}  // namespace

WebhookSender::WebhookSender(WebhookSettings settings, WebhookTransport& transport,
                             std::shared_ptr<WebhookCounters> counters, WebhookChance chance)
    : settings_(std::move(settings)),
      transport_(transport),
      counters_(std::move(counters)),
      chance_(with_random(std::move(chance))) {}

void WebhookSender::put(WebhookMessage message) {
  const auto older = std::find_if(waiting_.begin(), waiting_.end(), [&message](const auto& waits) {
    return waits.fields.watch == message.fields.watch;
  });
  if (older == waiting_.end()) {
    waiting_.push_back(std::move(message));
    return;
  }
  ++counters_->dropped;
  *older = std::move(message);
}

void WebhookSender::keep(const std::function<bool(const std::string& watch)>& is_watched) {
  const auto gone = std::remove_if(
      waiting_.begin(), waiting_.end(),
      [&is_watched](const auto& message) { return !is_watched(message.fields.watch); });
  counters_->dropped += static_cast<std::uint64_t>(waiting_.end() - gone);
  waiting_.erase(gone, waiting_.end());
}

void WebhookSender::advance() {
  if (const auto outcome = transport_.advance()) end(*outcome);
  if (on_its_way_ || waiting_.empty() || chance_.now() < not_before_) return;
  begin();
  if (const auto outcome = transport_.advance()) end(*outcome);
}

void WebhookSender::begin() {
  on_its_way_ = std::move(waiting_.front());
  waiting_.pop_front();
  transport_.begin(make_request(settings_, on_its_way_->fields, on_its_way_->jpeg));
}

void WebhookSender::end(const WebhookOutcome& outcome) {
  if (is_sent(outcome)) {
    ++counters_->sent;
    on_its_way_.reset();
    failures_ = 0;
    not_before_ = {};
    if (logged_.forget()) log_info("webhook: {} takes messages again", settings_.host);
    return;
  }
  ++counters_->failed;
  const bool again = may_succeed_later(outcome);
  tell_failure(outcome, again);
  if (!again) {
    ++counters_->dropped;
    on_its_way_.reset();
    return;
  }
  delay(outcome);
  take_back();
}

void WebhookSender::tell_failure(const WebhookOutcome& outcome, bool again) {
  std::string text = "webhook: " + settings_.host + ": ";
  if (outcome.status == 0) {
    text += first_line(printable(outcome.problem));
  } else if (outcome.status >= 300 && outcome.status < 400) {
    text += fmt::format("status {}: it redirects, which is not followed: set webhook.url to where",
                        outcome.status);
  } else {
    text += fmt::format("status {}", outcome.status);
  }
  logged_.warn(text + (again ? "; it is tried again" : "; such a message is not sent again"));
}

// The message waits again, before all others, unless a newer one of its watch does.
void WebhookSender::take_back() {
  const bool is_old = std::any_of(waiting_.begin(), waiting_.end(), [this](const auto& message) {
    return message.fields.watch == on_its_way_->fields.watch;
  });
  if (is_old) {
    ++counters_->dropped;
  } else {
    waiting_.push_front(*std::move(on_its_way_));
  }
  on_its_way_.reset();
}

void WebhookSender::delay(const WebhookOutcome& outcome) {
  std::chrono::duration<double> delay = kFirstDelay;
  for (int i = 0; i < failures_ && delay < kMaxDelay; ++i) delay *= 2;
  ++failures_;
  delay = std::min<std::chrono::duration<double>>(delay, kMaxDelay);
  delay *= 1 - kJitter * chance_.random();
  // The server may not be asked sooner than it says.
  if (outcome.retry_after) {
    const auto asked = std::min<std::chrono::seconds>(*outcome.retry_after, kMaxDelay);
    delay = std::max<std::chrono::duration<double>>(delay, asked);
  }
  not_before_ = chance_.now() + std::chrono::duration_cast<Clock::duration>(delay);
}

Clock::time_point WebhookSender::next_due() const {
  if (on_its_way_ || waiting_.empty()) return Clock::time_point::max();
  return not_before_;
}

bool WebhookSender::is_busy(Clock::time_point time) const {
  return on_its_way_ || (!waiting_.empty() && not_before_ < time);
}

void WebhookSender::drop_all() {
  counters_->dropped += waiting_.size() + (on_its_way_ ? 1 : 0);
  waiting_.clear();
  on_its_way_.reset();
}

}  // namespace lookout
