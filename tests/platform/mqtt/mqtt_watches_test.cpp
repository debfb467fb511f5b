// Several watches with names: each has topics of its own, and what is watched no more leaves
// nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/mqtt/home_assistant.h"
#include "platform/mqtt/mqtt_watch.h"
#include "tests/platform/mqtt/mqtt_feed_testing.h"
#include "tests/support/model_testing.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;
using Names = std::vector<std::string>;

class MqttWatchesTest : public MqttFeedTest {
 protected:
  MqttWatchesTest() { watch({"gate", "lamp"}); }

  static MqttFeedOptions described() {
    MqttFeedOptions options;
    options.discovery = [](const WatchList& watches, const std::set<std::string>& removed) {
      return discovery_payload(mqtt_topics("lookout", "front", "m", "homeassistant"), "front",
                               watches, removed, {});
    };
    return options;
  }
  // As a run that begins, or a list that changes while it runs.
  static WatchList list(const Names& names) {
    WatchList watches;
    for (const std::string& name : names) {
      const bool has_name = !name.empty();
      watches.push_back(
          {has_name ? std::make_shared<WatchInfo>(WatchInfo{name, {}}) : nullptr, mqtt_model()});
    }
    return watches;
  }
  void watch(const Names& names) {
    watches_ = list(names);
    make(described());
  }
  void now_watch(const Names& names) {
    slots_->put(list(names));
    turn();
  }
  // Another run after this one.
  void run_again(const Names& names) {
    watch(names);
    broker_.forget_published();
    connect();
  }
  static Result result_of(const std::string& name, std::size_t index, bool changed = true) {
    Result result = result_with(index, 0.9F);
    result.watch = std::make_shared<WatchInfo>(WatchInfo{name, {}});
    result.state_changed = changed;
    return result;
  }
  void change_of(const std::string& name, std::size_t index) {
    slots_->put(result_of(name, index), small_frame());
    turn();
  }
  Payloads of_watch(const std::string& topic) const { return of("lookout/front/watch/" + topic); }
  std::string last_config() const { return of(topics_.config).back(); }
  // The entities that the last message describes, and those that it removes.
  Names entities(bool removed) const {
    Names keys;
    const Json all = Json::parse(last_config())["cmps"];
    for (const auto& [key, entity] : all.items()) {
      if ((entity.size() == 1) == removed) keys.push_back(key);
    }
    return keys;
  }
  static Names of_watches(const Names& names) {
    Names keys;
    for (const std::string& name : names) {
      for (const char* key : {"change", "image", "picture", "score", "state"}) {
        keys.push_back(name.empty() ? key : name + "_" + key);
      }
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  // With those of the camera itself.
  static Names all_entities(const Names& watches) {
    Names keys = of_watches(watches);
    for (const char* key : {"camera", "latency", "rate", "temperature", "throttled"}) {
      keys.emplace_back(key);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }
  void home_assistant_starts() {
    broker_.send({topics_.birth, "online", 1, false});
    turn();
    pass(MqttFeed::kRepublishWithin);
  }
  // Home Assistant knows nothing of the run without names that was before.
  void connect_and_settle() {
    connect();
    home_assistant_starts();
    pass(MqttFeed::kListening);
    pass_until_removed();
    pass(MqttFeed::kRemembering);
  }
  // Whether Home Assistant is told to remove it when it starts.
  bool is_removed_from_home_assistant(const std::string& watch) {
    broker_.forget_published();
    home_assistant_starts();
    const bool is_described = last_config().find("." + watch + ".") != std::string::npos;
    pass(MqttFeed::kListening);
    const Names removed = entities(/*removed=*/true);
    return is_described &&
           std::find(removed.begin(), removed.end(), watch + "_state") != removed.end();
  }
  // Retained topics below the camera's with something in their names.
  Names retained_with(const std::string& part) const {
    Names topics;
    for (const auto& [topic, payload] : broker_.retained()) {
      if (topic.find(part) != std::string::npos) topics.push_back(topic);
    }
    return topics;
  }
  void pass_until_removed() {
    for (int i = 0; i < MqttFeed::kRemovals; ++i) pass(MqttFeed::kListening);
  }
};

TEST_F(MqttWatchesTest, AChangeIsPublishedBelowTheWatch) {
  connect();
  change_of("lamp", 1);
  EXPECT_EQ(of_watch("lamp/state"), Payloads{"dog"});
  EXPECT_EQ(Json::parse(of_watch("lamp/attributes").at(0))["index"], 1);
  EXPECT_EQ(of_watch("lamp/snapshot").size(), 1U);
  EXPECT_TRUE(of_watch("gate/state").empty());
  EXPECT_TRUE(of_watch("gate/snapshot").empty());
  EXPECT_TRUE(of_watch("lamp/event").empty()) << "there was no state before";
  pass(MqttWatch::kBetweenChanges);
  Result result = result_of("lamp", 0);
  result.previous_state = class_state(1, 0.9F);
  slots_->put(result, small_frame());
  turn();
  const Json event = Json::parse(of_watch("lamp/event").at(0));
  EXPECT_EQ(event["watch"], "lamp");
  EXPECT_EQ(event["previous"], "dog");
  EXPECT_TRUE(of(topics_.event).empty());
}

TEST_F(MqttWatchesTest, OneWatchDoesNotSwallowTheChangeOfAnother) {
  connect();
  change_of("gate", 0);
  change_of("lamp", 0);
  slots_->put(result_of("gate", 1), small_frame());
  slots_->put(result_of("lamp", 1), small_frame());
  slots_->put(result_of("gate", 0), small_frame());
  turn();
  EXPECT_EQ(of_watch("gate/state").size(), 1U) << "changes are 100 ms apart";
  pass(MqttWatch::kBetweenChanges);
  EXPECT_EQ(of_watch("gate/state"), (Payloads{"cat", "cat"})) << "the newest";
  EXPECT_EQ(of_watch("lamp/state"), (Payloads{"cat", "dog"}));
  EXPECT_EQ(counters_->dropped, 1U);
}

TEST_F(MqttWatchesTest, OfAFrameThatSeveralWantThePictureIsOne) {
  connect();
  slots_->put(result_of("gate", 1), small_frame(50));
  slots_->put(result_of("lamp", 1), small_frame(60));
  turn();
  ASSERT_EQ(of_watch("gate/snapshot").size(), 1U);
  EXPECT_EQ(of_watch("gate/snapshot"), of_watch("lamp/snapshot")) << "the newest, for both";
}

TEST_F(MqttWatchesTest, PicturesOfEachWatchCome10SApart) {
  connect();
  change_of("gate", 1);
  pass(seconds(3));
  change_of("gate", 0);
  change_of("lamp", 1);
  EXPECT_EQ(of_watch("gate/snapshot").size(), 1U);
  EXPECT_EQ(of_watch("lamp/snapshot").size(), 1U);
  pass(seconds(7));
  slots_->put(result_of("lamp", 1, /*changed=*/false), small_frame());
  turn();
  EXPECT_EQ(of_watch("gate/snapshot").size(), 1U) << "another watch's frame";
  slots_->put(result_of("gate", 0, /*changed=*/false), small_frame());
  turn();
  EXPECT_EQ(of_watch("gate/snapshot").size(), 2U);
  EXPECT_EQ(of_watch("lamp/snapshot").size(), 1U);
}

TEST_F(MqttWatchesTest, WithStatisticsTheScoreOfEachIsRenewed) {
  connect();
  change_of("gate", 1);
  change_of("lamp", 0);
  stats();
  slots_->put(result_of("gate", 1, /*changed=*/false), small_frame());
  slots_->put(result_of("lamp", 0, /*changed=*/false), small_frame());
  turn();
  EXPECT_EQ(of_watch("gate/attributes").size(), 2U);
  EXPECT_EQ(of_watch("lamp/attributes").size(), 2U);
  EXPECT_EQ(of(topics_.stats).size(), 1U) << "of the camera";
}

TEST_F(MqttWatchesTest, APictureThatIsAskedForIsTheCameras) {
  watches_ = list({"gate", "lamp"});
  std::vector<bool> asked;
  connect_with_commands(asked);
  broker_.send({topics_.take_snapshot, "", 1, false});
  turn();
  broker_.forget_published();
  slots_->put(result_of("lamp", 1, /*changed=*/false), small_frame());
  turn();
  EXPECT_EQ(of(topics_.snapshot).size(), 1U);
  EXPECT_TRUE(of_watch("lamp/snapshot").empty());
  EXPECT_FALSE(broker_.published().back().retained);
}

// Before anything is published.
TEST_F(MqttWatchesTest, TheStateBeforeIsReadOfEachWatch) {
  broker_.retain("lookout/front/watch", R"(["gate","lamp"])");
  broker_.retain("lookout/front/watch/gate/state", "cat");
  broker_.retain("lookout/front/watch/lamp/state", "cat");
  slots_->put(result_of("gate", 1), small_frame());
  slots_->put(result_of("lamp", 0), small_frame());
  connect();
  ASSERT_EQ(of_watch("gate/event").size(), 1U);
  EXPECT_EQ(Json::parse(of_watch("gate/event")[0])["previous"], "cat");
  EXPECT_TRUE(of_watch("lamp/event").empty());
  EXPECT_EQ(broker_.subscribed(), (Payloads{topics_.available, topics_.owner, topics_.birth}));
}

TEST_F(MqttWatchesTest, TheDeviceHasTheEntitiesOfEachWatch) {
  connect();
  pass_until_removed();
  Names expected = of_watches({"gate", "lamp"});
  for (const char* key : {"camera", "latency", "rate", "temperature", "throttled"}) {
    expected.emplace_back(key);
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(entities(/*removed=*/false), expected);
  EXPECT_EQ(entities(/*removed=*/true), Names{});
  const Json state = Json::parse(last_config())["cmps"]["gate_state"];
  EXPECT_EQ(state["uniq_id"], "lookout_m_front.gate.state");
  EXPECT_EQ(state["name"], "gate state");
  EXPECT_EQ(state["stat_t"], "lookout/front/watch/gate/state");
  EXPECT_EQ(state["json_attr_t"], "lookout/front/watch/gate/attributes");
}

TEST_F(MqttWatchesTest, AnotherTitleChangesNamesAndNoId) {
  connect();
  const Json before = Json::parse(last_config())["cmps"]["gate_state"];
  WatchList watches = list({"gate", "lamp"});
  watches[0].watch = std::make_shared<WatchInfo>(WatchInfo{"gate", {}, "Garden gate"});
  slots_->put(watches);
  turn();
  Json after = Json::parse(last_config())["cmps"]["gate_state"];
  EXPECT_EQ(after["name"], "Garden gate state");
  after["name"] = before["name"];
  EXPECT_EQ(after, before);
}

TEST_F(MqttWatchesTest, AWatchThatIsRemovedLeavesNothing) {
  connect();
  pass_until_removed();
  for (const char* name : {"gate", "lamp"}) change_of(name, 1);
  now_watch({"lamp"});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
  EXPECT_TRUE(retained_with("/watch/gate").empty());
  EXPECT_EQ(retained_with("/watch/lamp").size(), 3U);
  EXPECT_EQ(broker_.retained()["lookout/front/watch"], R"(["lamp"])");
  pass_until_removed();
  EXPECT_EQ(last_config().find("gate"), std::string::npos);
  EXPECT_FALSE(link_->next_due() < clock_.now());
}

TEST_F(MqttWatchesTest, WhatARunBeforeWatchedIsRemoved) {
  connect();
  for (const char* name : {"gate", "lamp"}) change_of(name, 1);
  run_again({"lamp", "box"});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
  EXPECT_TRUE(retained_with("/watch/gate").empty());
  EXPECT_EQ(broker_.retained()["lookout/front/watch"], R"(["lamp","box"])");
  pass_until_removed();
  EXPECT_TRUE(entities(/*removed=*/true).empty());
  EXPECT_EQ(last_config().find("gate"), std::string::npos);
}

TEST_F(MqttWatchesTest, AWatchWithoutAStateIsRemovedToo) {
  connect();
  run_again({"lamp"});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
}

TEST_F(MqttWatchesTest, FromOneWithoutANameToNamesAndBack) {
  watch({""});
  connect();
  change(1);
  EXPECT_EQ(retained_with("/state").size(), 2U);
  EXPECT_TRUE(retained_with("/watch").empty());
  run_again({"gate"});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({""}));
  EXPECT_TRUE(retained_with("front/state").empty());
  EXPECT_TRUE(retained_with("front/snapshot").empty());
  pass_until_removed();
  change_of("gate", 1);
  run_again({""});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
  EXPECT_TRUE(retained_with("/watch").empty());
  pass_until_removed();
  EXPECT_EQ(last_config().find("gate"), std::string::npos);
  broker_.forget_published();
  run_again({""});
  EXPECT_TRUE(entities(/*removed=*/true).empty());
  EXPECT_TRUE(of(topics_.watches).empty());
}

TEST_F(MqttWatchesTest, FromOneWithoutANameToNamesAndBackWhileItRuns) {
  watch({""});
  connect();
  change(1);
  now_watch({"gate"});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({""}));
  EXPECT_TRUE(retained_with("front/state").empty());
  change_of("gate", 0);
  EXPECT_EQ(of_watch("gate/state"), Payloads{"cat"});
  now_watch({""});
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
  EXPECT_TRUE(retained_with("/watch").empty());
  EXPECT_EQ(entities(/*removed=*/false).size(), 10U);
}

TEST_F(MqttWatchesTest, WhatIsRemovedWhileTheBrokerIsAwayIsRemovedWhenItIsBack) {
  connect();
  pass_until_removed();
  change_of("gate", 1);
  broker_.act(FakeBroker::fail(MqttFailure::Kind::kLost));
  turn();
  now_watch({"lamp"});
  EXPECT_FALSE(retained_with("/watch/gate").empty());
  pass(seconds(1));
  turn();
  turn();
  EXPECT_TRUE(retained_with("/watch/gate").empty());
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
}

TEST_F(MqttWatchesTest, WhatWentBeforeHomeAssistantStartedIsRemovedFromItOnce) {
  connect_and_settle();
  change_of("gate", 1);
  now_watch({"lamp"});
  pass_until_removed();
  home_assistant_starts();
  EXPECT_EQ(entities(/*removed=*/false), all_entities({"gate", "lamp"}));
  EXPECT_EQ(broker_.retained()[topics_.config].find("gate"), std::string::npos);
  pass(MqttFeed::kListening);
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
  EXPECT_TRUE(retained_with("/watch/gate").empty());
  pass_until_removed();
  EXPECT_EQ(last_config().find("gate"), std::string::npos);
  pass(MqttFeed::kRemembering);
  home_assistant_starts();
  EXPECT_EQ(entities(/*removed=*/false), all_entities({"lamp"}));
}

TEST_F(MqttWatchesTest, WhatWentIsRemovedOnceMoreWhenHomeAssistantStartsAgainSoon) {
  connect_and_settle();
  now_watch({"lamp"});
  pass_until_removed();
  EXPECT_TRUE(is_removed_from_home_assistant("gate"));
  pass(MqttFeed::kRemembering - seconds(1));
  EXPECT_TRUE(is_removed_from_home_assistant("gate"));
}

TEST_F(MqttWatchesTest, AStartOfHomeAssistantBetweenDescriptionAndRemovalBeginsAgain) {
  connect_and_settle();
  now_watch({"lamp"});
  pass_until_removed();
  home_assistant_starts();
  pass(MqttFeed::kListening - seconds(1));
  broker_.send({topics_.birth, "online", 1, false});
  turn();
  pass(seconds(1));
  EXPECT_TRUE(entities(/*removed=*/true).empty()) << "it is to hear the description first";
  pass(MqttFeed::kRepublishWithin);
  EXPECT_EQ(entities(/*removed=*/false), all_entities({"gate", "lamp"}));
  pass(MqttFeed::kListening);
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
}

TEST_F(MqttWatchesTest, WhatGoesBehindAStartOfHomeAssistantIsRemovedFromItWhenItStartsAgain) {
  connect_and_settle();
  now_watch({"lamp", "gate", "box"});
  now_watch({"lamp", "gate"});
  broker_.send({topics_.birth, "online", 1, false});
  turn();
  now_watch({"lamp"});  // before that start is answered
  pass(MqttFeed::kRepublishWithin);
  EXPECT_EQ(entities(/*removed=*/false), all_entities({"box", "lamp"}));
  pass(MqttFeed::kListening);
  pass_until_removed();
  pass(MqttFeed::kRemembering);
  EXPECT_TRUE(is_removed_from_home_assistant("gate"));
}

TEST_F(MqttWatchesTest, WhatGoesWhileHomeAssistantHearsWhatWentIsRemovedFromItWhenItStartsAgain) {
  connect_and_settle();
  now_watch({"lamp", "gate", "box"});
  now_watch({"lamp", "gate"});
  home_assistant_starts();
  now_watch({"lamp"});  // between the box's description and its removal
  pass(MqttFeed::kListening);
  pass_until_removed();
  pass(MqttFeed::kRemembering);
  EXPECT_TRUE(is_removed_from_home_assistant("gate"));
  EXPECT_FALSE(is_removed_from_home_assistant("box"));
}

TEST_F(MqttWatchesTest, WhatWentBeforeTheBrokerAndHomeAssistantStartedIsRemovedFromThisOnce) {
  connect_and_settle();
  now_watch({"lamp"});
  pass_until_removed();
  broker_.act(FakeBroker::fail(MqttFailure::Kind::kLost));
  turn();
  // Home Assistant starts before this client is connected again, which does not hear of it.
  pass(seconds(1));
  turn();
  turn();
  pass(MqttFeed::kRepublishWithin);
  EXPECT_EQ(entities(/*removed=*/false), all_entities({"gate", "lamp"}));
  pass(MqttFeed::kListening);
  EXPECT_EQ(entities(/*removed=*/true), of_watches({"gate"}));
}

TEST_F(MqttWatchesTest, AWatchThatIsBackWhenHomeAssistantStartsStays) {
  connect_and_settle();
  now_watch({"lamp"});
  pass_until_removed();
  now_watch({"lamp", "gate"});
  home_assistant_starts();
  pass(MqttFeed::kListening);
  EXPECT_TRUE(entities(/*removed=*/true).empty());
  EXPECT_EQ(entities(/*removed=*/false), all_entities({"gate", "lamp"}));
}

TEST_F(MqttWatchesTest, AWatchThatIsBackWhileHomeAssistantHearsThatItWentStays) {
  connect_and_settle();
  now_watch({"lamp"});
  pass_until_removed();
  home_assistant_starts();
  now_watch({"lamp", "gate"});
  change_of("gate", 1);
  pass(MqttFeed::kListening);
  EXPECT_TRUE(entities(/*removed=*/true).empty());
  EXPECT_EQ(broker_.retained()["lookout/front/watch/gate/state"], "dog");
}

TEST_F(MqttWatchesTest, AWatchThatIsBackIsRemovedNoMore) {
  connect();
  pass_until_removed();
  change_of("gate", 1);
  now_watch({"lamp"});
  now_watch({"lamp", "gate"});
  EXPECT_TRUE(entities(/*removed=*/true).empty());
  change_of("gate", 0);
  pass_until_removed();
  EXPECT_EQ(broker_.retained()["lookout/front/watch/gate/state"], "cat");
  EXPECT_TRUE(of_watch("gate/event").empty()) << "what it was before is gone";
}

TEST_F(MqttWatchesTest, AWatchThatStaysKeepsItsState) {
  connect();
  change_of("gate", 1);
  now_watch({"gate", "box"});
  pass(seconds(1));
  slots_->put(CameraStatus{false, {}});
  change_of("gate", 0);  // the first one after a loss: it is compared with what was told
  ASSERT_EQ(of_watch("gate/event").size(), 1U);
  EXPECT_EQ(Json::parse(of_watch("gate/event")[0])["previous"], "dog");
}

// Two lists come while the thread looks up the broker's name: it sees the second one alone.
TEST_F(MqttWatchesTest, AWatchThatWentAndCameBackUnseenHasItsPicturesAndScores) {
  connect();
  change_of("gate", 1);
  slots_->put(list({"lamp"}));
  now_watch({"gate", "lamp"});
  pass(seconds(20));
  for (const std::size_t index : {0, 1}) {
    change_of("gate", index);
    pass(seconds(20));
  }
  EXPECT_EQ(of_watch("gate/snapshot").size(), 3U);
  const std::size_t before = of_watch("gate/attributes").size();
  stats();
  slots_->put(result_of("gate", 1, /*changed=*/false), small_frame());
  turn();
  EXPECT_EQ(of_watch("gate/attributes").size(), before + 1);
}

TEST_F(MqttWatchesTest, AnotherModelOfOneWatchDescribesItAgain) {
  connect();
  pass_until_removed();
  WatchList watches = list({"gate", "lamp"});
  watches[1].model = model_with({"off", "on"}, "lamps");
  slots_->put(watches);
  turn();
  const Json json = Json::parse(last_config());
  EXPECT_EQ(json["cmps"]["lamp_state"]["ops"], Json::array({"off", "on", "unknown"}));
  EXPECT_EQ(json["cmps"]["gate_state"]["ops"], Json::array({"cat", "dog", "unknown"}));
  EXPECT_EQ(json["dev"]["mdl"], "fake, lamps");
}

TEST_F(MqttWatchesTest, ResultsOfAWatchThatIsGoneAreIgnored) {
  connect();
  slots_->put(result_of("gate", 1), small_frame());
  now_watch({"lamp"});
  slots_->put(result_of("gate", 1), small_frame());
  turn();
  EXPECT_TRUE(retained_with("/watch/gate").empty());
}

TEST_F(MqttWatchesTest, NothingIsDueWhileTheBrokerIsAway) {
  connect();
  change_of("gate", 1);
  change_of("gate", 0);
  broker_.act(FakeBroker::fail(MqttFailure::Kind::kLost));
  turn();
  clock_.advance(seconds(30));
  feed_->advance();
  EXPECT_GT(feed_->next_due(), clock_.now()) << "else the thread would not sleep";
}

TEST_F(MqttWatchesTest, WhatAnybodyWritesIntoTheListIsNoTrouble) {
  for (const char* payload : {"", "x", "{}", "[1,[],\"a/b\",\"+\",\"\"]", "\"gate\""}) {
    EXPECT_TRUE(watch_names(payload).empty()) << payload;
  }
  Names many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = "w" + std::to_string(i);
  EXPECT_EQ(watch_names(watches_payload(many)).size(), kMaxWatchNames);
  EXPECT_EQ(watch_names(R"(["gate","lamp","gate"])"), (std::set<std::string>{"gate", "lamp"}));
}

// What a change costs on the wire, and what waits for a broker that stalls.
TEST_F(MqttWatchesTest, AChangeOfOneOfFourIsFourMessages) {
  watch({"gate", "lamp", "box", "door"});
  connect();
  for (const char* name : {"gate", "lamp", "box", "door"}) change_of(name, 0);
  pass(seconds(20));
  broker_.forget_published();
  Result result = result_of("box", 1);
  result.previous_state = class_state(0, 0.9F);
  slots_->put(result, small_frame());
  turn();
  EXPECT_EQ(broker_.published().size(), 4U);  // picture, state, attributes, event
}

TEST_F(MqttWatchesTest, OfABrokerThatStallsEachWatchWaitsOncePerTopic) {
  const Names names{"a", "b", "c", "d", "e", "f", "g", "h"};
  watch(names);
  connect();
  pass_until_removed();
  broker_.set_answer([](const MqttMessage&) { return std::nullopt; });
  broker_.forget_published();
  for (int i = 0; i < 100; ++i) {
    for (const std::string& name : names) change_of(name, static_cast<std::size_t>(i % 2));
    pass(seconds(11));
  }
  std::map<std::string, int> sent;
  for (const MqttMessage& message : broker_.published()) ++sent[message.topic];
  EXPECT_EQ(sent.size(), 4 * names.size());  // state, attributes, event, picture
  for (const auto& [topic, count] : sent) EXPECT_EQ(count, 1) << topic;
  broker_.set_answer([](const MqttMessage&) { return 0; });
}

}  // namespace
}  // namespace lookout
