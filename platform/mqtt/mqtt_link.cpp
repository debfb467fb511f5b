#include "platform/mqtt/mqtt_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kLinkBeat{1};  // libmosquitto's keepalive counts seconds

// A broker that refuses a size closes the connection at once, and only large messages are suspect.
constexpr std::size_t kLarge = 1024;
constexpr std::chrono::seconds kSuspicion{5};
constexpr int kMaxEnded = 2;

}  // namespace

double random_share() {
  static thread_local std::mt19937 engine{std::random_device()()};
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

MqttLink::MqttLink(MqttLinkOptions options, OpenMqtt open, std::shared_ptr<MqttCounters> counters)
    : options_(std::move(options)),
      open_(std::move(open)),
      counters_(std::move(counters)),
      next_attempt_(options_.now()),
      delay_(options_.first_delay) {}

Clock::time_point MqttLink::next_due() const {
  if (closed_) return Clock::time_point::max();
  return transport_ ? options_.now() + kLinkBeat : next_attempt_;
}

void MqttLink::advance(bool readable, bool writable) {
  if (closed_) return;
  if (!transport_) {
    if (options_.now() < next_attempt_) return;
    begin();
  } else if (const auto failure = transport_->advance(readable, writable)) {
    end(*failure);
  } else if (reason_ != 0) {
    end({MqttFailure::Kind::kLost, ""});
  } else if (!connected_ && options_.now() - since_ >= options_.patience) {
    end({MqttFailure::Kind::kSilent, ""});
  }
  if (!connected_) return;
  if (options_.now() - since_ >= options_.stable) {
    logged_.clear();
    delay_ = options_.first_delay;
    short_connections_ = 0;
  }
  send_waiting();
}

void MqttLink::begin() {
  reason_ = 0;
  MqttSettings settings = options_.settings;
  if (!with_will_) settings.will.reset();
  transport_ = open_(settings, *this);
  const auto failure = transport_->connect();
  since_ = options_.now();
  if (failure) end(*failure);
}

// Ends the connection or the attempt, and sets the time of the next one.
void MqttLink::end(const MqttFailure& failure) {
  const auto now = options_.now();
  const bool other_version =
      !connected_ && options_.settings.version_5 && reason_ != 0 && is_version_refused(reason_);
  if (other_version) {
    options_.settings.version_5 = false;
    next_attempt_ = now;
  } else {
    const bool lost = connected_ && failure.kind == MqttFailure::Kind::kLost;
    if (lost) ++short_connections_;
    const bool flapping = !check_suspect(failure, now) && lost && short_connections_ > 1;
    last_problem_ = reason_text(failure, flapping);
    warn(last_problem_ + "; trying again");
    const double part = (1 + options_.random()) / 2;
    next_attempt_ = now + std::chrono::duration_cast<std::chrono::milliseconds>(delay_ * part);
    delay_ = std::min(delay_ * 2, options_.max_delay);
  }
  forget_messages();
  transport_.reset();
}

void MqttLink::forget_messages() {
  counters_->dropped += waiting_.size() + sent_.size();
  counters_->publishes = false;
  connected_ = false;
  waiting_.clear();
  sent_.clear();
  early_.clear();
  suspect_.reset();
}

std::string MqttLink::reason_text(const MqttFailure& failure, bool flapping) const {
  if (reason_ != 0) return refusal_text(reason_, options_.party);
  if (flapping) return flapping_text(options_.party);
  const MqttPhase phase = connected_ ? MqttPhase::kConnected : MqttPhase::kConnecting;
  return problem_text(failure, phase, options_.party);
}

void MqttLink::warn(const std::string& sentence) {
  if (options_.log && logged_.insert(sentence).second) {
    log_warn("mqtt: {}", sentence);
  } else {
    log_debug("mqtt: {}", sentence);
  }
}

// Returns whether a large message is to blame.
bool MqttLink::check_suspect(const MqttFailure& failure, Clock::time_point now) {
  if (!suspect_ || failure.kind != MqttFailure::Kind::kLost || now - suspect_->time > kSuspicion) {
    return false;
  }
  const int times = ++ended_by_[suspect_->sent.topic];
  const bool blamed = times >= kMaxEnded || reason_ == kMqttTooLarge;
  if (blamed) ban(suspect_->sent);
  return blamed;
}

// Messages of this topic and size are left out from now on.
void MqttLink::ban(const Sent& sent) {
  banned_[sent.topic] = sent.size;
  if (logged_once_.insert(sent.topic).second) {
    log_warn("mqtt: {}", too_large_text(sent.topic, sent.size, options_.party));
  }
}

void MqttLink::on_connected() {
  connected_ = true;
  since_ = options_.now();
  if (!was_connected_ && options_.log) {
    log_info("mqtt: connected to {}", options_.party.broker);
  } else if (was_connected_ && logged_.insert("connected").second) {
    log_info("mqtt: connected again to {}", options_.party.broker);
  }
  was_connected_ = true;
  if (handlers_.connected) handlers_.connected();
}

void MqttLink::on_published(int id, int reason) {
  const auto sent = sent_.find(id);
  if (sent == sent_.end()) {
    early_[id] = reason;
    return;
  }
  settle(sent->second, reason);
  sent_.erase(sent);
}

void MqttLink::settle(const Sent& sent, int reason) {
  if (suspect_ && suspect_->sent.topic == sent.topic) suspect_.reset();
  if (reason < kMqttRefused) {
    ++counters_->messages;
    return;
  }
  ++counters_->dropped;
  if (reason == kMqttTooLarge) {
    ban(sent);
  } else if (logged_once_.insert(sent.topic).second) {
    log_warn("mqtt: {}", refused_message_text(sent.topic, reason, options_.party));
  }
}

void MqttLink::on_subscribed(int reason) {
  if (reason < kMqttRefused || !logged_once_.insert("").second) return;
  log_warn("mqtt: {}", refused_subscription_text(reason, options_.party));
}

void MqttLink::on_message(const MqttMessage& message) {
  if (handlers_.received) handlers_.received(message);
}

void MqttLink::publish(MqttMessage message) {
  const auto banned = banned_.find(message.topic);
  const bool is_banned = banned != banned_.end() && message.payload.size() >= banned->second;
  if (!connected_ || is_banned) {
    ++counters_->dropped;
    return;
  }
  const auto older = std::find_if(
      waiting_.begin(), waiting_.end(),
      [&message](const MqttMessage& waiting) { return waiting.topic == message.topic; });
  if (older == waiting_.end()) {
    waiting_.push_back(std::move(message));
    return;
  }
  ++counters_->dropped;
  *older = std::move(message);
}

void MqttLink::subscribe(const std::string& topic) {
  if (connected_) transport_->subscribe(topic);
}

void MqttLink::unsubscribe(const std::string& topic) {
  if (connected_) transport_->unsubscribe(topic);
}

void MqttLink::reconnect(bool with_will) {
  with_will_ = with_will;
  if (!transport_) return;
  send_waiting();
  if (connected_) transport_->disconnect();
  forget_messages();
  transport_.reset();
  next_attempt_ = options_.now();
  logged_.insert("connected");  // nothing was lost that a line would have told of
}

bool MqttLink::is_on_its_way(const std::string& topic) const {
  return std::any_of(sent_.begin(), sent_.end(),
                     [&topic](const auto& sent) { return sent.second.topic == topic; });
}

void MqttLink::send_waiting() {
  std::vector<MqttMessage> later;
  for (MqttMessage& message : waiting_) {
    if (is_on_its_way(message.topic) || !send(message)) later.push_back(std::move(message));
  }
  waiting_ = std::move(later);
}

// Returns whether the message is done with.
bool MqttLink::send(const MqttMessage& message) {
  const Sent sent{message.topic, message.payload.size()};
  const MqttPublished published = transport_->publish(message);
  if (published.too_large) {
    ++counters_->dropped;
    ban(sent);
    return true;
  }
  if (!published.problem.empty()) {
    ++counters_->dropped;
    if (logged_once_.insert(message.topic).second) {
      log_warn("mqtt: {} cannot be published on {}: {}", printable(message.topic),
               options_.party.broker, published.problem);
    }
    return true;
  }
  if (published.id == 0) return false;
  if (sent.size >= kLarge) suspect_ = Suspect{sent, options_.now()};
  const auto early = early_.find(published.id);
  if (early == early_.end()) {
    sent_[published.id] = sent;
  } else {
    settle(sent, early->second);
  }
  early_.clear();
  return true;
}

void MqttLink::close() {
  closed_ = true;
  if (transport_ && connected_) transport_->disconnect();
  counters_->publishes = false;
  connected_ = false;
  transport_.reset();
}

}  // namespace lookout
