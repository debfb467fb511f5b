// What is published of one watch, and when.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/core/frame.h"
#include "pipeline/results/format.h"
#include "platform/mqtt/mqtt_slots.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/mqtt/mqtt_transport.h"
#include "platform/system/wall_moment.h"

namespace lookout {

// The newest change waits until the one before is kBetweenChanges old, so does the newest picture.
//
// An event tells of a change: the state before was seen by this run, or it is what the broker has
// retained. Used by one thread.
class MqttWatch {
 public:
  static constexpr std::chrono::milliseconds kBetweenChanges{100};
  static constexpr std::chrono::seconds kBetweenPictures{10};

  // What the watches of a camera share; it outlives them.
  struct Camera {
    JsonFormat format;
    bool pictures = true;  // of changes
    // Publishes, or does nothing while nothing may be published.
    std::function<void(MqttMessage)> publish;
  };

  MqttWatch(MqttWatchTopics topics, const MqttWatching& watch, Camera& camera)
      : topics_(std::move(topics)), name_(watch.name()), wants_(watch.wants), camera_(camera) {}

  const std::string& name() const { return name_; }
  const MqttWatchTopics& topics() const { return topics_; }

  // What the broker has retained as the state, before anything is published.
  void hear_state(const std::string& payload);
  // What is new. `publishes`: whether something may be published now. Returns how many changes are
  // not published, since a newer one came or nothing may be.
  std::uint64_t take(const MqttWatchNews& news, bool with_picture, bool publishes);
  // A JPEG.
  void take_picture(const std::string& jpeg, Clock::time_point now);
  // The score of a state that lasts is to be published again.
  void want_result() { wants_->result = true; }
  // Those that the frame loop has now: a watch that was gone and came back has others.
  void use(std::shared_ptr<MqttWants> wants) { wants_ = std::move(wants); }

  void want_what_is_due(Clock::time_point now);
  void publish_what_is_due(Clock::time_point now);
  // When these two have to be called, the second one if something may be published.
  Clock::time_point next_due(bool publishes) const;

  // Everything that is retained.
  void publish_all();
  // The event of the run's start, behind publish_all().
  void publish_start();

 private:
  bool note_state();
  void publish_change();
  void publish_event();
  void publish_attributes();
  void publish(const std::string& topic, std::string payload, bool retained);

  const MqttWatchTopics topics_;
  const std::string name_;
  std::shared_ptr<MqttWants> wants_;
  Camera& camera_;
  std::optional<std::string> retained_;  // the state of a run before; empty: there was none
  std::optional<std::string> told_;      // the state that the broker has; empty: nothing is known
  std::string previous_;                 // the state before result_; empty: there was none
  bool noted_ = false;                   // previous_ is that of result_
  std::optional<MqttResult> result_;     // the last change, or a later result of the same state
  WallMoment since_;                     // the state
  std::string snapshot_;                 // the last JPEG; empty: none yet
  bool change_waits_ = false;
  bool picture_waits_ = false;                   // the last change has none
  std::optional<Clock::time_point> picture_at_;  // from when on a picture is wanted again
  Clock::time_point next_change_;
};

}  // namespace lookout
