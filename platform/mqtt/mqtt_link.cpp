#include "platform/mqtt/mqtt_link.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

// Codes of MQTT 5: something was refused from the first one on.
constexpr int kMqttRefused = 128;
constexpr int kMqttNoVersion = 132;  // the broker does not speak this version
constexpr int kMqttNotAuthorized = 135;
constexpr int kMqttTooLarge = 149;

// " (detail)", or nothing.
std::string in_brackets(const std::string& detail) {
  return detail.empty() ? detail : fmt::format(" ({})", printable(detail));
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// For a service, whose unit gives it no network.
std::string network_hint(const MqttParty& party) {
  const bool needs_network = party.is_service && !contains(party.broker, "unix:");
  return needs_network ? "; the service has no network unless its unit says so: see "
                         "/usr/share/doc/lookout/examples/mqtt.conf"
                       : "";
}

std::string tls_text(const std::string& detail, const MqttParty& party) {
  if (contains(detail, "host name")) {
    return fmt::format(
        "the certificate of {} is for another name: mqtt.url has to have one that "
        "is in it",
        party.broker);
  }
  if (contains(detail, "certificate verify failed")) {
    return fmt::format(
        "the certificate of {} cannot be trusted{}: set mqtt.ca to the file of the "
        "CA that issued it",
        party.broker, in_brackets(detail));
  }
  if (contains(detail, "Unable to load") || contains(detail, "inconsistent")) {
    return fmt::format("mqtt.ca, mqtt.certificate or mqtt.key cannot be used{}",
                       in_brackets(detail));
  }
  return fmt::format("{} and lookout cannot agree on TLS{}: is its port one for TLS?", party.broker,
                     in_brackets(detail));
}

std::string connecting_text(const MqttFailure& failure, const MqttParty& party) {
  const std::string detail = in_brackets(failure.detail);
  switch (failure.kind) {
    case MqttFailure::Kind::kLost:
      return fmt::format(
          "{} closed the connection before it answered{}: is its port one for MQTT, "
          "and with TLS (mqtts://)?",
          party.broker, detail);
    case MqttFailure::Kind::kSilent:
      return fmt::format("{} did not answer within 10 s: is it an MQTT broker?{}", party.broker,
                         network_hint(party));
    default:
      return fmt::format("{} cannot be reached{}: is a broker running there?{}", party.broker,
                         detail, network_hint(party));
  }
}

// A code of version 3.1.1 as that of version 5.
int as_version_5(int reason) {
  constexpr std::array<int, 5> kOfVersion311{132, 133, 136, 134, 135};
  const bool is_old = reason >= 1 && reason <= static_cast<int>(kOfVersion311.size());
  return is_old ? kOfVersion311[static_cast<std::size_t>(reason) - 1] : reason;
}

struct MqttRefusal {
  int code;
  const char* sentence;  // {0}: the broker, {1}: our client's name
};

constexpr const char* kNotLetIn =
    "{0} does not let this client in: check the user in mqtt.url, mqtt.password-file, and the "
    "broker's access list";
constexpr const char* kBusy = "{0} is busy or stopping";
constexpr const char* kElsewhere =
    "{0} says that clients should use another broker: change mqtt.url";
constexpr MqttRefusal kRefusals[] = {
    {kMqttNoVersion, "{0} speaks neither MQTT 5 nor 3.1.1"},
    {133, "{0} does not accept the client's name {1}"},
    {134,
     "{0} refuses the user name or password: check the user in mqtt.url, and "
     "mqtt.password-file"},
    {kMqttNotAuthorized, kNotLetIn},
    {136, kBusy},
    {137, kBusy},
    {138, kNotLetIn},
    {139, kBusy},
    {142,
     "another client took the name {1}: two runs of this machine have the same camera.name, "
     "or the machine was cloned with its /etc/machine-id"},
    {kMqttTooLarge, "{0} closed the connection, since a message was too large"},
    {151, kBusy},
    {156, kElsewhere},
    {157, kElsewhere},
};

// How often libmosquitto looks at its clock: while it connects, and then, when its keepalive of 15
// s is all that it waits for. A broker closes a connection after 22.5 s without a message.
constexpr std::chrono::seconds kConnectingBeat{1};
constexpr std::chrono::seconds kConnectedBeat{3};

constexpr std::size_t kKb = 1024;

// A broker that refuses a size closes the connection at once, and only large messages are suspect.
constexpr std::size_t kLarge = kKb;
constexpr std::chrono::seconds kSuspicion{5};
constexpr int kMaxEnded = 2;

}  // namespace

std::string problem_text(const MqttFailure& failure, MqttPhase phase, const MqttParty& party) {
  if (failure.kind == MqttFailure::Kind::kTls) return tls_text(failure.detail, party);
  if (failure.kind == MqttFailure::Kind::kName) {
    return fmt::format("the name in {} cannot be resolved{}: check mqtt.url{}", party.broker,
                       in_brackets(failure.detail), network_hint(party));
  }
  if (phase == MqttPhase::kConnecting) return connecting_text(failure, party);
  if (failure.kind == MqttFailure::Kind::kSilent) {
    return fmt::format("{} does not answer any more", party.broker);
  }
  return fmt::format("the connection to {} was lost{}", party.broker, in_brackets(failure.detail));
}

// https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html, 2.4
std::string refusal_text(int reason, const MqttParty& party) {
  const int code = as_version_5(reason);
  for (const MqttRefusal& refusal : kRefusals) {
    if (refusal.code != code) continue;
    return fmt::format(fmt::runtime(refusal.sentence), party.broker, party.client_id);
  }
  return fmt::format("{} ended the connection with MQTT's code {}", party.broker, reason);
}

std::string refused_message_text(const std::string& topic, int reason, const MqttParty& party) {
  if (reason == kMqttNotAuthorized) {
    return fmt::format("{} does not permit {} to be written: add it to the broker's access list",
                       party.broker, printable(topic));
  }
  return fmt::format("{} refuses {} with MQTT's code {}", party.broker, printable(topic), reason);
}

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
  if (!transport_) return next_attempt_;
  return options_.now() + (connected_ ? kConnectedBeat : kConnectingBeat);
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
      !connected_ && options_.settings.version_5 && as_version_5(reason_) == kMqttNoVersion;
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
  if (flapping) {
    // Mosquitto does not tell a client why it closes a connection.
    return fmt::format(
        "the connection to {} is lost again and again: has another client the name {} (two runs of "
        "this machine with the same camera.name)? The broker's log tells",
        options_.party.broker, options_.party.client_id);
  }
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
  // It says why: another client took the name, or the broker ends.
  if (reason_ != 0 && reason_ != kMqttTooLarge) return false;
  const int times = ++ended_by_[suspect_->sent.topic];
  const bool blamed = times >= kMaxEnded || reason_ == kMqttTooLarge;
  if (blamed) ban(suspect_->sent);
  return blamed;
}

// Messages of this topic and size are left out from now on.
void MqttLink::ban(const Sent& sent) {
  banned_[sent.topic] = sent.size;
  if (logged_once_.insert(sent.topic).second) {
    log_warn(
        "mqtt: {} takes no message of {} KB, as {} has: such are left out from now on; raise its "
        "limit of size, or set mqtt.pictures=none",
        options_.party.broker, sent.size / kKb + 1, printable(sent.topic));
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
    if (sent.size >= kLarge) ended_by_.erase(sent.topic);
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
  log_warn(
      "mqtt: {} does not permit lookout to listen (code {}): commands and Home Assistant's start "
      "are "
      "not noticed; add the topics to the broker's access list",
      options_.party.broker, reason);
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

void MqttLink::send_waiting() {
  std::vector<MqttMessage> later;
  for (MqttMessage& message : waiting_) {
    const bool is_on_its_way = std::any_of(sent_.begin(), sent_.end(), [&](const auto& sent) {
      return sent.second.topic == message.topic;
    });
    if (is_on_its_way || !send(message)) later.push_back(std::move(message));
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

MqttReady poll_link(const MqttLink& link, const WakeEvent& wake, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kMax{60'000};
  const auto left = std::clamp<Clock::duration>(deadline - Clock::now(), {}, kMax);
  const auto write = static_cast<short>(link.wants_write() ? POLLOUT : 0);
  std::array<pollfd, 2> fds{pollfd{wake.fd(), POLLIN, 0},
                            pollfd{link.fd(), static_cast<short>(POLLIN | write), 0}};
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  if (poll(fds.data(), fds.size(), static_cast<int>(timeout)) <= 0) return {};
  if (fds[0].revents != 0) wake.clear();
  const auto events = static_cast<unsigned int>(fds[1].revents);
  return {(events & (POLLIN | POLLHUP | POLLERR)) != 0, (events & (POLLOUT | POLLERR)) != 0};
}

}  // namespace lookout
