// A feed with a broker that does what a test says.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/results/statistics.h"
#include "platform/mqtt/mqtt_feed.h"
#include "tests/platform/mqtt/fake_broker.h"
#include "tests/platform/mqtt/mqtt_testing.h"

namespace lookout {

using Payloads = std::vector<std::string>;

class MqttFeedTest : public testing::Test {
 protected:
  inline static const MqttMachine kThis{"m", "pi"};

  // The topics are this machine's, since a run before that saw a cat.
  MqttFeedTest() {
    make({});
    broker_.retain(topics_.owner, to_payload(kThis));
    broker_.retain(topics_.state, "cat");
  }

  void make(MqttFeedOptions options) {
    feed_.reset();
    link_.reset();
    slots_ = std::make_unique<MqttSlots>(options.pictures);
    MqttLinkOptions link;
    link.now = [this] { return clock_.now(); };
    link.settings.will = MqttMessage{"will", "offline", 1, true};
    link_ = std::make_unique<MqttLink>(link, broker_.open(), counters_);
    options.topics = mqtt_topics("lookout", "front", "m", "homeassistant");
    options.machine = kThis;
    options.info = mqtt_run_info();
    options.now = [this] { return clock_.now(); };
    options.random = [] { return 0.5; };
    if (!options.discovery) {
      options.discovery = [](const WatchList& watches, const std::set<std::string>&) {
        return "a device with " + watches.front().model->name;
      };
    }
    topics_ = options.topics;
    feed_ = std::make_unique<MqttFeed>(*slots_, *link_, *counters_, std::move(options));
    slots_->put(watches_);
  }

  // One turn of the thread.
  void turn() {
    link_->advance(true, false);
    feed_->advance();
    link_->advance(false, false);
  }
  void connect() {
    turn();
    turn();
    ASSERT_TRUE(link_->connected());
  }
  // Commands are permitted; `asked` gets what they switch.
  void connect_with_commands(std::vector<bool>& asked) {
    MqttFeedOptions options;
    options.commands = true;
    options.enable = [&asked](bool enabled) { asked.push_back(enabled); };
    make(options);
    connect();
  }
  void change(std::size_t index, int grey = 100) {
    slots_->put(change_to(index, 0.9F), small_frame(grey));
    turn();
  }
  void pass(Clock::duration time) {
    clock_.advance(time);
    turn();
  }
  void stats() {
    StatsSnapshot stats;
    stats.classified_fps = ++rate_;
    slots_->put(stats);
    turn();
  }
  Payloads of(const std::string& topic) const { return broker_.of(topic); }

  TestClock clock_;
  FakeBroker broker_;
  std::shared_ptr<MqttCounters> counters_ = std::make_shared<MqttCounters>();
  MqttTopics topics_;
  std::unique_ptr<MqttSlots> slots_;
  std::unique_ptr<MqttLink> link_;
  std::unique_ptr<MqttFeed> feed_;
  WatchList watches_{{nullptr, mqtt_model()}};  // that a run begins with
  int rate_ = 0;
};

}  // namespace lookout
