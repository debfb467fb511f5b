#include "platform/mqtt/mqtt_feed.h"

#include <algorithm>
#include <utility>

#include "platform/mqtt/mqtt_payloads.h"
#include "platform/pictures/encode_picture.h"

namespace lookout {
namespace {

constexpr int kPictureQuality = 80;  // of JPEG

bool is_due(std::optional<Clock::time_point>& time, Clock::time_point now) {
  if (!time || now < *time) return false;
  time.reset();
  return true;
}

}  // namespace

MqttFeed::MqttFeed(MqttSlots& slots, MqttLink& link, MqttCounters& counters,
                   MqttFeedOptions options)
    : slots_(slots),
      link_(link),
      counters_(counters),
      options_(std::move(options)),
      format_(options_.info),
      switch_(options_.enable) {
  link_.set_handlers({[this] { greet(); }, [this](const MqttMessage& message) { obey(message); }});
  if (options_.pictures) slots_.want_picture_of_change();
}

// With each connection.
void MqttFeed::greet() {
  const MqttTopics& topics = options_.topics;
  if (!topics.birth.empty()) link_.subscribe(topics.birth);
  if (options_.commands) {
    link_.subscribe(topics.set_enabled);
    link_.subscribe(topics.take_snapshot);
  }
  publish_all();
}

void MqttFeed::obey(const MqttMessage& message) {
  const auto command = parse_command(message, options_.topics, options_.commands);
  if (!command) return;
  const auto now = options_.now();
  switch (*command) {
    case MqttCommand::kGreet:
      greeting_ = now + std::chrono::duration_cast<Clock::duration>(kGreeting * options_.random());
      break;
    case MqttCommand::kEnable:
    case MqttCommand::kDisable:
      switch_.command(*command == MqttCommand::kEnable, now);
      break;
    case MqttCommand::kSnapshot:
      if (!options_.pictures || now < next_asked_picture_) break;
      next_asked_picture_ = now + kBetweenAskedPictures;
      slots_.want_picture();
      break;
  }
}

void MqttFeed::advance() {
  const MqttNews news = slots_.take();
  if (news.status) {
    online_ = news.status->online;
    publish_camera();
  }
  if (news.change) take_change(news);
  if (news.result && result_ && !change_waits_) {
    result_ = news.result;
    publish_attributes();
  }
  if (news.picture) take_picture(*news.picture);
  if (news.stats) take_stats(*news.stats);
  do_what_is_due();
}

void MqttFeed::do_what_is_due() {
  const auto now = options_.now();
  if (is_due(picture_at_, now)) want_picture();
  if (switch_.advance(now)) publish_enabled();
  if (!link_.connected()) return;
  if (is_due(greeting_, now)) publish_all();
  if (is_due(stats_again_, now)) publish_stats();
  if (change_waits_ && now >= next_change_) publish_change();
}

Clock::time_point MqttFeed::next_due() const {
  auto due = switch_.next_due();
  for (const auto& time : {greeting_, stats_again_, picture_at_}) {
    if (time) due = std::min(due, *time);
  }
  return change_waits_ ? std::min(due, next_change_) : due;
}

void MqttFeed::take_change(const MqttNews& news) {
  result_ = news.change;
  state_since_ = news.change->result.timestamp;
  // An event that comes late would start an automation at the wrong time.
  counters_.dropped +=
      link_.connected() ? news.changes - 1 + (change_waits_ ? 1 : 0) : news.changes;
  change_waits_ = link_.connected();
  picture_waits_ = options_.pictures && !news.picture;
}

void MqttFeed::want_picture() {
  if (picture_waits_) {
    slots_.want_picture();
  } else {
    slots_.want_picture_of_change();
  }
}

void MqttFeed::take_picture(const cv::Mat& bgr) {
  snapshot_ = encode_jpeg(turned(bgr, options_.view), kPictureQuality);
  picture_waits_ = false;
  picture_at_ = options_.now() + kBetweenPictures;
  publish(options_.topics.snapshot, snapshot_, /*retained=*/true);
}

void MqttFeed::take_stats(const StatsSnapshot& stats) {
  stats_.clear();
  format_.append(stats, stats_);
  stats_ = without_newline(std::move(stats_));
  publish_stats();
  slots_.want_result();  // for the score of a state that lasts
}

void MqttFeed::publish_all() {
  const MqttTopics& topics = options_.topics;
  publish(topics.available, "online", /*retained=*/true);
  if (!options_.discovery.empty()) publish(topics.config, options_.discovery, /*retained=*/true);
  publish_enabled();
  publish_camera();
  if (result_) {
    publish(topics.state, state_payload(result_->result.state, options_.info), /*retained=*/true);
    publish_attributes();
  }
  if (!snapshot_.empty()) publish(topics.snapshot, snapshot_, /*retained=*/true);
  publish_stats();
  stats_again_ = options_.now() + kListening;
}

void MqttFeed::publish_enabled() {
  if (!options_.commands || !switch_.can_switch()) return;
  publish(options_.topics.enabled, switch_.enabled() ? "ON" : "OFF", /*retained=*/true);
}

void MqttFeed::publish_change() {
  next_change_ = options_.now() + kBetweenChanges;
  change_waits_ = false;
  const MqttTopics& topics = options_.topics;
  publish(topics.state, state_payload(result_->result.state, options_.info), /*retained=*/true);
  publish_attributes();
  std::string line;
  format_.append_state(result_->result, result_->origin, line);
  publish(topics.event, event_payload(line), /*retained=*/false);
}

void MqttFeed::publish_attributes() {
  publish(options_.topics.attributes,
          attributes_payload(result_->result, state_since_, options_.info), /*retained=*/true);
}

void MqttFeed::publish_camera() {
  publish(options_.topics.camera, online_ ? "online" : "offline", /*retained=*/true);
}

void MqttFeed::publish_stats() {
  if (!stats_.empty()) publish(options_.topics.stats, stats_, /*retained=*/false, /*qos=*/0);
}

void MqttFeed::publish(const std::string& topic, std::string payload, bool retained, int qos) {
  if (link_.connected()) link_.publish({topic, std::move(payload), qos, retained});
}

void MqttFeed::stop() { publish(options_.topics.available, "stopped", /*retained=*/true); }

}  // namespace lookout
