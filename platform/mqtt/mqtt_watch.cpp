#include "platform/mqtt/mqtt_watch.h"

#include <algorithm>
#include <utility>

namespace lookout {

void MqttWatch::hear_state(const std::string& payload) {
  retained_.reset();
  if (!payload.empty()) retained_ = state_label(payload);
  told_ = retained_;
}

std::uint64_t MqttWatch::take(const MqttWatchNews& news, bool with_picture, bool publishes) {
  std::uint64_t dropped = 0;
  if (news.change) {
    result_ = news.change;
    noted_ = false;
    since_ = WallMoment(news.change->result.timestamp);
    // An event that comes late would start an automation at the wrong time.
    dropped = publishes ? news.changes - 1 + (change_waits_ ? 1 : 0) : news.changes;
    change_waits_ = publishes;
    picture_waits_ = camera_.pictures && !with_picture;
  }
  if (news.result && result_ && !change_waits_) {
    result_ = news.result;
    publish_attributes();
  }
  return dropped;
}

void MqttWatch::take_picture(const std::string& jpeg, Clock::time_point now) {
  snapshot_ = jpeg;
  picture_waits_ = false;
  picture_at_ = now + kBetweenPictures;
  publish(topics_.snapshot, snapshot_, /*retained=*/true);
}

void MqttWatch::want_what_is_due(Clock::time_point now) {
  if (!picture_at_ || now < *picture_at_) return;
  picture_at_.reset();
  (picture_waits_ ? wants_->picture : wants_->picture_of_change) = true;
}

void MqttWatch::publish_what_is_due(Clock::time_point now) {
  if (!change_waits_ || now < next_change_) return;
  next_change_ = now + kBetweenChanges;
  publish_change();
}

Clock::time_point MqttWatch::next_due(bool publishes) const {
  const auto due = picture_at_.value_or(Clock::time_point::max());
  return change_waits_ && publishes ? std::min(due, next_change_) : due;
}

void MqttWatch::publish_all() {
  if (result_) {
    if (!change_waits_) note_state();  // else with its event
    publish(topics_.state, state_payload(result_->result.state), /*retained=*/true);
    publish_attributes();
  }
  if (!snapshot_.empty()) publish(topics_.snapshot, snapshot_, /*retained=*/true);
}

void MqttWatch::publish_start() {
  if (!result_ || !retained_ || *retained_ == *told_) return;
  previous_ = *retained_;
  publish_attributes();
  publish_event();
}

// That the broker is told the state. Returns whether that is a change.
bool MqttWatch::note_state() {
  if (noted_) return false;
  noted_ = true;
  const std::string state = state_payload(result_->result.state);
  previous_ = state_payload(result_->result.previous_state);
  // The first state of the run, or after the camera was away: only the broker knows one before.
  const bool is_first = previous_.empty();
  const bool changes = !is_first || (told_ && *told_ != state);
  if (is_first && changes) previous_ = *told_;
  told_ = state;
  return changes;
}

void MqttWatch::publish_change() {
  change_waits_ = false;
  const bool changes = note_state();
  publish(topics_.state, state_payload(result_->result.state), /*retained=*/true);
  publish_attributes();
  if (changes) publish_event();
}

void MqttWatch::publish_event() {
  std::string line;
  camera_.format.append_state(result_->result, result_->origin, line);
  publish(topics_.event, event_payload(line, previous_), /*retained=*/false);
}

void MqttWatch::publish_attributes() {
  publish(topics_.attributes, attributes_payload(result_->result, since_.told(), previous_),
          /*retained=*/true);
}

void MqttWatch::publish(const std::string& topic, std::string payload, bool retained) {
  camera_.publish({topic, std::move(payload), /*qos=*/1, retained});
}

}  // namespace lookout
