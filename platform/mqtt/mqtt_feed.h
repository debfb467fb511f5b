// Decides what is published about a camera, and when.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/result.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "platform/mqtt/mqtt_link.h"
#include "platform/mqtt/mqtt_owner.h"
#include "platform/mqtt/mqtt_slots.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/mqtt/mqtt_watch.h"

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

struct MqttFeedOptions {
  MqttTopics topics;
  MqttMachine machine;  // this one
  RunInfo info;
  View view;                                   // pictures are turned and mirrored, but not cut
  bool pictures = true;                        // of changes
  bool commands = false;                       // are executed
  std::chrono::milliseconds interval{60'000};  // between statistics, at least
  // The device for Home Assistant: what is watched, and the names of what is removed; called by the
  // thread "mqtt". Empty: there is none.
  std::function<std::string(const WatchList&, const std::set<std::string>& removed)> discovery;
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
// What the run does not watch, or no more, is removed: its retained topics are emptied, and Home
// Assistant is told, and once more when it starts. The retained topic `watch` names what a run
// before this one has left.
//
// Used by one thread, but for the slots.
class MqttFeed {
 public:
  static constexpr std::chrono::seconds kBetweenAskedPictures{1};
  // Home Assistant's start is answered after a random part of this time: there may be many cameras.
  static constexpr std::chrono::seconds kRepublishWithin{5};
  // Home Assistant listens to topics a moment after it heard of them; statistics are not retained.
  static constexpr std::chrono::seconds kListening{5};
  // Home Assistant is told twice of entities that are gone: while it takes in a message about a
  // device it may leave out a part of the next one.
  static constexpr int kRemovals = 2;
  // When Home Assistant starts within this time after it was told what went while it was off, it is
  // told again. It may not have heard: it notices within 90 s that its connection was lost, and
  // starts minutes after a broker on the same machine.
  static constexpr std::chrono::minutes kRemembering{10};
  // Names of watches that are gone, at most, while the broker or Home Assistant is away; the others
  // stay there.
  static constexpr std::size_t kMaxRemoved = 64;
  // `available` is corrected that often, when others write it.
  static constexpr std::chrono::seconds kBetweenCorrections{1};

  // `slots`, `link` and `counters` outlive this, which sets the link's handlers.
  MqttFeed(MqttSlots& slots, MqttLink& link, MqttCounters& counters, MqttFeedOptions options);
  ~MqttFeed() { link_.set_handlers({}); }
  MqttFeed(const MqttFeed&) = delete;
  MqttFeed& operator=(const MqttFeed&) = delete;

  // Publishes what is new or due. To be called when the first list of watches is in the slots, and
  // before the link is connected.
  void advance();
  // When advance() has to be called, even without news.
  Clock::time_point next_due() const;
  // Publishes that the program has stopped.
  void stop();

 private:
  void on_connected();
  void hear(const MqttMessage& message);
  void hear_what_was(const MqttMessage& message);
  void execute(const MqttMessage& message);

  // Whether there is a connection, and something may be published.
  bool publishes() const { return begun_ && link_.connected(); }
  bool has_names() const { return !watches_.empty() && !watches_.front()->name().empty(); }
  void settle_owner();
  void begin();
  void give_way();

  MqttWatch* find(const std::string& watch) const;
  bool is_for(const MqttPicture& picture, const MqttWatch& watch) const;
  void take_watches(const std::vector<MqttWatching>& watches);
  void take_picture(const MqttPicture& picture);
  void take_stats(const StatsSnapshot& stats);
  void do_what_is_due();

  void find_removed();
  void settle_removed();
  void republish_soon();
  void welcome();
  void remove_gone();
  void forget_gone();
  std::string describe() const;
  void publish_removed();
  void publish_watches();
  void publish_discovery();
  void publish_all();
  void publish_enabled();
  void publish_camera();
  void publish_stats();
  void publish(const std::string& topic, std::string payload, bool retained, int qos = 1);
  void publish(MqttMessage message);

  MqttSlots& slots_;
  MqttLink& link_;
  MqttCounters& counters_;
  const MqttFeedOptions options_;
  MqttOwner owner_;
  MqttSwitch switch_;
  MqttWatch::Camera camera_;
  std::vector<std::unique_ptr<MqttWatch>> watches_;  // without names: one
  WatchList list_;                                   // the same
  std::string discovery_;                            // with these; empty: there is none
  bool begun_ = false;                               // to publish, on this connection
  bool ever_begun_ = false;                          // in this run
  bool others_logged_ = false;                       // that the topics are another machine's
  std::string others_available_;                     // what `available` was before we published
  std::set<std::string> watched_before_;  // names of a run before, as the broker has them
  bool unnamed_before_ = false;           // it has the state of a run without names
  std::set<std::string> removed_;         // watches of which the broker may have something
  int removals_ = 0;                      // how often Home Assistant is to be told of these
  std::set<std::string> gone_;            // watches that it may know from before it was off
  std::set<std::string> gone_before_;     // those of them that went before its last start
  bool online_ = true;                    // the camera
  std::string stats_;                     // the last JSON line; empty: none yet
  std::string asked_;                     // with names: the last JPEG that was asked for
  std::optional<Clock::time_point> republish_at_;  // when to publish everything again
  std::optional<Clock::time_point> stats_again_;
  std::optional<Clock::time_point> removed_again_;
  std::optional<Clock::time_point> gone_again_;
  std::optional<Clock::time_point> forget_gone_;
  std::optional<Clock::time_point> available_again_;
  Clock::time_point next_correction_;
  Clock::time_point next_asked_picture_;
};

}  // namespace lookout
