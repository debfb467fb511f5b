#include "platform/mqtt/mqtt_feed.h"

#include <algorithm>
#include <utility>

#include "pipeline/core/log.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/pictures/encode_picture.h"

namespace lookout {
namespace {

// Whether it was wanted; it is not any more.
bool take_flag(std::atomic<bool>& wanted) { return wanted && wanted.exchange(false); }

constexpr int kPictureQuality = 80;  // of JPEG
constexpr const char* kOnline = "online";

bool is_due(std::optional<Clock::time_point>& time, Clock::time_point now) {
  if (!time || now < *time) return false;
  time.reset();
  return true;
}

}  // namespace

void MqttSwitch::command(bool enabled, Clock::time_point now) {
  if (!can_switch()) return;
  if (now - last_command_ >= kRest) lines_ = 0;
  last_command_ = now;
  wanted_ = enabled;
}

bool MqttSwitch::advance(Clock::time_point now) {
  if (!wanted_ || now < next_) return false;
  next_ = now + kBetween;
  const bool wanted = *std::exchange(wanted_, std::nullopt);
  const bool changes = std::exchange(enabled_, wanted) != wanted;
  if (changes && ++lines_ <= kLines + 1) log();
  enable_(wanted);
  return true;
}

void MqttSwitch::log() const {
  if (lines_ > kLines) {
    log_warn(
        "mqtt: commands switch the camera on and off again and again: not logged any more until "
        "there is none for a minute; is an automation to blame?");
    return;
  }
  log_info("mqtt: {} by a command", enabled_ ? "switched on" : "switched off");
}

void MqttSlots::put(const ModelInfoPtr& model) {
  {
    const MutexLock lock(mutex_);
    news_.model = model;
  }
  if (wake_) wake_();
}

void MqttSlots::put(const Result& result, const Frame& frame) {
  const bool changed = result.state_changed;
  const bool with_picture =
      take_flag(picture_wanted_) || (changed && take_flag(change_picture_wanted_));
  const bool with_result = take_flag(result_wanted_);
  if (!changed && !with_picture && !with_result) return;
  std::optional<cv::Mat> picture;
  if (with_picture) picture = whole_picture(frame).clone();
  {
    const MutexLock lock(mutex_);
    if (changed) {
      news_.change = MqttResult{result, frame.origin};
      ++news_.changes;
    }
    if (with_result) news_.result = MqttResult{result, frame.origin};
    if (picture) news_.picture = std::move(picture);
  }
  if (wake_) wake_();
}

void MqttSlots::put(const StatsSnapshot& stats) {
  {
    const MutexLock lock(mutex_);
    news_.stats = stats;
  }
  if (wake_) wake_();
}

void MqttSlots::put(const CameraStatus& status) {
  {
    const MutexLock lock(mutex_);
    news_.status = status;
  }
  if (wake_) wake_();
}

MqttNews MqttSlots::take() {
  const MutexLock lock(mutex_);
  return std::exchange(news_, {});
}

MqttFeed::MqttFeed(MqttSlots& slots, MqttLink& link, MqttCounters& counters,
                   MqttFeedOptions options)
    : slots_(slots),
      link_(link),
      counters_(counters),
      options_(std::move(options)),
      format_(options_.info),
      owner_(options_.machine),
      switch_(options_.enable) {
  link_.set_handlers(
      {[this] { on_connected(); }, [this](const MqttMessage& message) { hear(message); }});
  if (options_.pictures) slots_.want_picture_of_change();
}

// With each connection. What is retained on the other topics comes before the owner.
void MqttFeed::on_connected() {
  const MqttTopics& topics = options_.topics;
  begun_ = false;
  counters_.publishes = false;
  link_.subscribe(topics.available);
  if (!ever_begun_) link_.subscribe(topics.state);
  link_.subscribe(topics.owner);
  owner_.ask(options_.now());
  if (!topics.birth.empty()) link_.subscribe(topics.birth);
  if (options_.commands) {
    link_.subscribe(topics.set_enabled);
    link_.subscribe(topics.take_snapshot);
  }
}

void MqttFeed::hear(const MqttMessage& message) {
  const MqttTopics& topics = options_.topics;
  if (message.topic == topics.owner) {
    owner_.hear(message.payload, message.retained, options_.now());
  } else if (message.topic == topics.available) {
    // Another machine's will, or a connection of ours that the broker gave up late, may overwrite
    // it.
    if (!publishes()) {
      others_available_ = message.payload;
    } else if (message.payload != kOnline) {
      available_again_ = std::max(options_.now(), next_correction_);
    }
  } else if (message.topic != topics.state) {
    execute(message);
  } else if (!ever_begun_) {
    told_state_.reset();
    if (!message.payload.empty()) told_state_ = state_label(message.payload);
  }
}

void MqttFeed::execute(const MqttMessage& message) {
  const auto command = parse_command(message, options_.topics, options_.commands);
  if (!command || !publishes()) return;
  const auto now = options_.now();
  switch (*command) {
    case MqttCommand::kRepublish:
      republish_at_ =
          now + std::chrono::duration_cast<Clock::duration>(kRepublishWithin * options_.random());
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
  if (news.model) take_model(news.model);
  settle_owner();
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

void MqttFeed::settle_owner() {
  if (!link_.connected()) return;
  if (auto claim = owner_.advance(options_.now())) {
    link_.publish({options_.topics.owner, std::move(*claim), /*qos=*/1, /*retained=*/true});
  }
  if (owner_.state() == MqttOwner::State::kTheirs) return give_way();
  if (owner_.state() != MqttOwner::State::kOurs || begun_) return;
  if (link_.has_will()) return begin();
  link_.reconnect(/*with_will=*/true);
}

void MqttFeed::give_way() {
  const MqttTopics& topics = options_.topics;
  // Home Assistant keeps the other one of two devices with the same topics.
  if (!topics.config.empty()) publish(topics.config, "", /*retained=*/true);
  begun_ = false;
  counters_.publishes = false;
  if (link_.has_will()) link_.reconnect(/*with_will=*/false);
  if (std::exchange(others_logged_, true)) return;
  // Anybody may have written something else.
  const std::string& available = others_available_;
  const bool is_known = available == kOnline || available == "offline" || available == "stopped";
  log_warn(
      "mqtt: {} belongs to {}{}: nothing is published until one of the two cameras has another "
      "camera.name or, when the other one is gone for good, 'lookout mqtt forget --all-machines "
      "--set camera.name={}' has removed it",
      printable(topics.base), to_text(owner_.other()), is_known ? ", which is " + available : "",
      printable(options_.info.camera));
}

void MqttFeed::begin() {
  begun_ = true;
  counters_.publishes = true;
  log_debug("mqtt: {} is this machine's", options_.topics.base);
  if (others_logged_) log_info("mqtt: {} is free now: publishing", options_.topics.base);
  others_logged_ = false;
  available_again_.reset();
  if (!ever_begun_) link_.unsubscribe(options_.topics.state);
  const bool is_first = !std::exchange(ever_begun_, true);
  const auto before = told_state_;
  publish_all();
  // What happened until now is one change. After a loss of the connection it would come late.
  if (!is_first || !result_ || !before || *before == *told_state_) return;
  previous_ = *before;
  publish_attributes();
  publish_event();
}

void MqttFeed::do_what_is_due() {
  const auto now = options_.now();
  if (is_due(picture_at_, now)) want_picture();
  if (switch_.advance(now)) publish_enabled();
  if (!publishes()) return;
  if (is_due(available_again_, now)) {
    next_correction_ = now + kBetweenCorrections;
    publish(options_.topics.available, kOnline, /*retained=*/true);
  }
  if (is_due(republish_at_, now)) publish_all();
  if (is_due(stats_again_, now)) publish_stats();
  if (change_waits_ && now >= next_change_) publish_change();
}

Clock::time_point MqttFeed::next_due() const {
  auto due = switch_.next_due();
  if (link_.connected()) due = std::min(due, owner_.next_due());
  for (const auto& time : {republish_at_, stats_again_, picture_at_, available_again_}) {
    if (time) due = std::min(due, *time);
  }
  return change_waits_ ? std::min(due, next_change_) : due;
}

void MqttFeed::take_model(const ModelInfoPtr& model) {
  format_.use(model);
  if (!options_.discovery) return;
  discovery_ = options_.discovery(*model);
  publish(options_.topics.config, discovery_, /*retained=*/true);
}

void MqttFeed::take_change(const MqttNews& news) {
  result_ = news.change;
  noted_ = false;
  state_since_ = news.change->result.timestamp;
  // An event that comes late would start an automation at the wrong time.
  counters_.dropped += publishes() ? news.changes - 1 + (change_waits_ ? 1 : 0) : news.changes;
  change_waits_ = publishes();
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
  publish(topics.available, kOnline, /*retained=*/true);
  if (!discovery_.empty()) publish(topics.config, discovery_, /*retained=*/true);
  publish_enabled();
  publish_camera();
  if (result_) {
    if (!change_waits_) note_state();  // else with its event
    publish(topics.state, state_payload(result_->result.state), /*retained=*/true);
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

// That the broker is told the state. Returns whether that is a change.
bool MqttFeed::note_state() {
  if (noted_) return false;
  noted_ = true;
  const std::string state = state_payload(result_->result.state);
  previous_ = state_payload(result_->result.previous_state);
  // The first state of the run, or after the camera was away: only the broker knows one before.
  const bool is_first = previous_.empty();
  const bool changes = !is_first || (told_state_ && *told_state_ != state);
  if (is_first && changes) previous_ = *told_state_;
  told_state_ = state;
  return changes;
}

void MqttFeed::publish_change() {
  next_change_ = options_.now() + kBetweenChanges;
  change_waits_ = false;
  const bool changes = note_state();
  const MqttTopics& topics = options_.topics;
  publish(topics.state, state_payload(result_->result.state), /*retained=*/true);
  publish_attributes();
  if (changes) publish_event();
}

void MqttFeed::publish_event() {
  std::string line;
  format_.append_state(result_->result, result_->origin, line);
  publish(options_.topics.event, event_payload(line, previous_), /*retained=*/false);
}

void MqttFeed::publish_attributes() {
  publish(options_.topics.attributes, attributes_payload(result_->result, state_since_, previous_),
          /*retained=*/true);
}

void MqttFeed::publish_camera() {
  publish(options_.topics.camera, online_ ? "online" : "offline", /*retained=*/true);
}

void MqttFeed::publish_stats() {
  if (!stats_.empty()) publish(options_.topics.stats, stats_, /*retained=*/false, /*qos=*/0);
}

void MqttFeed::publish(const std::string& topic, std::string payload, bool retained, int qos) {
  if (publishes()) link_.publish({topic, std::move(payload), qos, retained});
}

void MqttFeed::stop() { publish(options_.topics.available, "stopped", /*retained=*/true); }

}  // namespace lookout
