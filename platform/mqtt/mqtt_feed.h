// Decides what is published about a camera, and when.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/result.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/results/format.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "platform/mqtt/mqtt_link.h"
#include "platform/mqtt/mqtt_owner.h"
#include "platform/mqtt/mqtt_topics.h"

namespace lookout {

// Switches the camera on and off by commands. However fast they come, the newest counts, once a
// second. Used by one thread.
class MqttSwitch {
 public:
  static constexpr std::chrono::seconds kBetween{1};
  // Lines in the log: that many, and one that says that there are more; as many again after a
  // minute without a command.
  static constexpr int kLines = 10;
  static constexpr std::chrono::minutes kRest{1};

  // `enable` pauses the source (false) or lets it run; empty: it cannot be paused, and commands are
  // ignored.
  explicit MqttSwitch(std::function<void(bool)> enable) : enable_(std::move(enable)) {}

  bool can_switch() const { return static_cast<bool>(enable_); }
  bool enabled() const { return enabled_; }

  void command(bool enabled, Clock::time_point now);
  // Carries out what is due. Returns whether a command was carried out, which may have changed
  // nothing.
  bool advance(Clock::time_point now);
  // When advance() has to be called.
  Clock::time_point next_due() const { return wanted_ ? next_ : Clock::time_point::max(); }

 private:
  void log() const;

  const std::function<void(bool)> enable_;
  bool enabled_ = true;
  std::optional<bool> wanted_;
  Clock::time_point next_;
  Clock::time_point last_command_;
  int lines_ = 0;  // since the last rest
};

struct MqttResult {
  Result result;
  std::string origin;
};

// What is new in a run, for the thread "mqtt". Each member holds the newest element since the last
// take(); empty: there was none.
struct MqttNews {
  ModelInfoPtr model;
  std::optional<MqttResult> change;  // the newest result that changed the state
  std::uint64_t changes = 0;         // how many there were
  std::optional<MqttResult> result;  // the one that was wanted
  std::optional<cv::Mat> picture;    // a copy, B G R, as the source delivered it
  std::optional<StatsSnapshot> stats;
  std::optional<CameraStatus> status;
};

// Where the frame loop puts what is new. put() is called by it, all else by one other thread. A
// frame that changes nothing and that nobody wants costs three loads.
class MqttSlots {
 public:
  // `wake` is called by the frame loop when there is news. To be set before the first put().
  void set_wake(std::function<void()> wake) { wake_ = std::move(wake); }

  void put(const ModelInfoPtr& model) EXCLUDES(mutex_);
  void put(const Result& result, const Frame& frame) EXCLUDES(mutex_);
  void put(const StatsSnapshot& stats) EXCLUDES(mutex_);
  void put(const CameraStatus& status) EXCLUDES(mutex_);

  MqttNews take() EXCLUDES(mutex_);

  // Each is for one frame: the next one; the next one's picture; the picture of the next change.
  void want_result() { result_wanted_ = true; }
  void want_picture() { picture_wanted_ = true; }
  void want_picture_of_change() { change_picture_wanted_ = true; }

 private:
  std::function<void()> wake_;
  std::atomic<bool> result_wanted_ = false;
  std::atomic<bool> picture_wanted_ = false;
  std::atomic<bool> change_picture_wanted_ = false;
  Mutex mutex_;
  MqttNews news_ GUARDED_BY(mutex_);
};

struct MqttFeedOptions {
  MqttTopics topics;
  MqttMachine machine;  // this one
  RunInfo info;
  View view;                                   // pictures are turned and mirrored, but not cut
  bool pictures = true;                        // of changes
  bool commands = false;                       // are executed
  std::chrono::milliseconds interval{60'000};  // between statistics, at least
  // The device for Home Assistant, with a model; called by the thread "mqtt". Empty: there is none.
  std::function<std::string(const ModelInfo&)> discovery;
  // Pauses the source (false) or lets it run again; called by the thread "mqtt". Empty: the source
  // cannot be paused.
  std::function<void(bool)> enable;
  // Tests pass their own.
  std::function<Clock::time_point()> now = Clock::now;
  std::function<double()> random = random_share;
};

// When the topics are this machine's (see MqttOwner), everything retained is published, with each
// connection and when Home Assistant has started; then what changes, the newest of each topic.
// While they are another machine's, nothing is, and there is no will: one line in the log says so.
//
// An event tells of a change: the state before was seen by this run, or it is what the broker has
// retained. Used by one thread, but for the slots.
class MqttFeed {
 public:
  static constexpr std::chrono::milliseconds kBetweenChanges{100};
  static constexpr std::chrono::seconds kBetweenPictures{10};
  static constexpr std::chrono::seconds kBetweenAskedPictures{1};
  // Home Assistant's start is answered after a random part of this time: there may be many cameras.
  static constexpr std::chrono::seconds kRepublishWithin{5};
  // Home Assistant listens to topics a moment after it heard of them; statistics are not retained.
  static constexpr std::chrono::seconds kListening{5};
  // `available` is corrected that often, when others write it.
  static constexpr std::chrono::seconds kBetweenCorrections{1};

  // `slots`, `link` and `counters` outlive this, which sets the link's handlers.
  MqttFeed(MqttSlots& slots, MqttLink& link, MqttCounters& counters, MqttFeedOptions options);
  ~MqttFeed() { link_.set_handlers({}); }
  MqttFeed(const MqttFeed&) = delete;
  MqttFeed& operator=(const MqttFeed&) = delete;

  // Publishes what is new or due. To be called when the first model is in the slots.
  void advance();
  // When advance() has to be called, even without news.
  Clock::time_point next_due() const;
  // Publishes that the program has stopped.
  void stop();

 private:
  void on_connected();
  void hear(const MqttMessage& message);
  void execute(const MqttMessage& message);
  void want_picture();

  // Whether there is a connection, and something may be published.
  bool publishes() const { return begun_ && link_.connected(); }
  void settle_owner();
  void begin();
  void give_way();

  void take_model(const ModelInfoPtr& model);
  void take_change(const MqttNews& news);
  void take_picture(const cv::Mat& bgr);
  void take_stats(const StatsSnapshot& stats);
  void do_what_is_due();

  void publish_all();
  void publish_enabled();
  bool note_state();
  void publish_change();
  void publish_event();
  void publish_attributes();
  void publish_camera();
  void publish_stats();
  void publish(const std::string& topic, std::string payload, bool retained, int qos = 1);

  MqttSlots& slots_;
  MqttLink& link_;
  MqttCounters& counters_;
  const MqttFeedOptions options_;
  JsonFormat format_;
  MqttOwner owner_;
  MqttSwitch switch_;
  std::string discovery_;                  // with the model; empty: there is none
  bool begun_ = false;                     // to publish, on this connection
  bool ever_begun_ = false;                // in this run
  bool others_logged_ = false;             // that the topics are another machine's
  std::string others_available_;           // what `available` was before we published
  std::optional<std::string> told_state_;  // what the broker has retained; empty: nothing is known
  std::string previous_;                   // the state before result_; empty: there was none
  bool noted_ = false;                     // previous_ is that of result_
  bool online_ = true;                     // the camera
  std::optional<MqttResult> result_;       // the last change, or a later result of the same state
  std::chrono::system_clock::time_point state_since_;
  std::string stats_;     // the last JSON line; empty: none yet
  std::string snapshot_;  // the last JPEG; empty: none yet
  bool change_waits_ = false;
  bool picture_waits_ = false;                     // the last change has none
  std::optional<Clock::time_point> republish_at_;  // when to publish everything again
  std::optional<Clock::time_point> stats_again_;
  std::optional<Clock::time_point> picture_at_;  // from when on a picture is wanted again
  std::optional<Clock::time_point> available_again_;
  Clock::time_point next_correction_;
  Clock::time_point next_change_;
  Clock::time_point next_asked_picture_;
};

}  // namespace lookout
