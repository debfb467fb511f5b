
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/results/format.h"
#include "platform/mqtt/mqtt_topics.h"
#include "tests/platform/mqtt/mqtt_testing.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

TEST(MqttTopics, LieUnderTheCamera) {
  const MqttTopics topics = mqtt_topics("home/lookout", "front", "0123456789ab", "homeassistant");
  EXPECT_EQ(topics.available, "home/lookout/front/available");
  EXPECT_EQ(topics.attributes, "home/lookout/front/state/attributes");
  EXPECT_EQ(topics.set_enabled, "home/lookout/front/enabled/set");
  EXPECT_EQ(topics.client_id, "lookout-0123456789ab-front");
  EXPECT_EQ(topics.config, "homeassistant/device/lookout_0123456789ab_front/config");
  EXPECT_EQ(topics.birth, "homeassistant/status");
}

TEST(MqttTopics, TellHomeAssistantNothingWithoutItsPrefix) {
  const MqttTopics topics = mqtt_topics("lookout", "front", "m", "");
  EXPECT_EQ(topics.config, "");
  EXPECT_EQ(topics.birth, "");
}

TEST(MqttTopics, ACameraIsOneLevelWhateverItsName) {
  EXPECT_EQ(topic_level("a/b+c#d\n"), "a_b_c_d_");
  EXPECT_EQ(topic_level("Küche 1"), "Küche 1");
  EXPECT_EQ(topic_level(""), "_");
  EXPECT_EQ(topic_level("\xff").find('\xff'), std::string::npos);
}

TEST(MqttTopics, HomeAssistantsNamesArePlainAndStayDifferent) {
  const auto device = [](const std::string& camera) {
    return mqtt_topics("lookout", camera, "m", "ha").device;
  };
  EXPECT_EQ(device("front_door-2"), "lookout_m_front_door-2");
  EXPECT_EQ(device("Küche").find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_-"),
            std::string::npos);
  EXPECT_NE(device("ü1"), device("ä1"));
  EXPECT_NE(device("a b"), device("a_b"));
  EXPECT_EQ(device("a b"), "lookout_m_a_b_c8687a") << "of its SHA-256, in every version";
}

TEST(MqttTopics, APrefixHasLevelsWithoutWildcards) {
  for (const char* text : {"lookout", "home/lookout", "h"}) EXPECT_TRUE(is_topic_prefix(text));
  for (const char* text : {"", "/a", "a/", "a/+", "#", "$SYS", "a\nb", "\xff"}) {
    EXPECT_FALSE(is_topic_prefix(text)) << text;
  }
  EXPECT_FALSE(is_topic_prefix(std::string(300, 'a')));
}

TEST(MqttPayloads, AStateIsALabelOrUnknown) {
  EXPECT_EQ(state_payload(class_state(1, 0.9F)), "dog");
  SceneState unknown;
  unknown.kind = SceneState::Kind::kUnknown;
  EXPECT_EQ(state_payload(unknown), "unknown");
  EXPECT_EQ(state_payload({}), "");
}

TEST(MqttPayloads, ALongLabelIsCutBetweenCharacters) {
  const std::string just = std::string(254, 'a') + "ü";
  EXPECT_EQ(state_label(just), just);
  EXPECT_EQ(state_label(just + "b"), std::string(254, 'a') + "…");
  EXPECT_EQ(state_label("a\xff"), "a\\xff");
}

TEST(MqttPayloads, AttributesDescribeTheState) {
  Result result = change_to(1, 0.9F);
  const auto since = std::chrono::system_clock::time_point(std::chrono::milliseconds(1500));
  const Json json = Json::parse(attributes_payload(result, since, "cat"));
  EXPECT_EQ(json["index"], 1);
  EXPECT_EQ(json["class_id"], "n2");
  EXPECT_NEAR(json["score"].get<double>(), 0.9, 1e-4);
  EXPECT_EQ(json["previous"], "cat");
  EXPECT_EQ(json["since"], 1.5);
  EXPECT_EQ(json["results"][0]["label"], "dog");
  EXPECT_EQ(json["results"].size(), 2U);
}

TEST(MqttPayloads, AttributesOfUnknownAreNull) {
  Result result;
  result.state.kind = SceneState::Kind::kUnknown;
  result.model = std::make_shared<ModelInfo>();
  const Json json = Json::parse(attributes_payload(result, {}, ""));
  EXPECT_TRUE(json["index"].is_null() && json["class_id"].is_null() && json["score"].is_null());
  EXPECT_TRUE(json["previous"].is_null());
  EXPECT_TRUE(json["results"].empty());
}

TEST(MqttPayloads, AttributesNameAModelThatFailed) {
  Result result = change_to(0, 0.5F);
  EXPECT_FALSE(Json::parse(attributes_payload(result, {}, "")).contains("failed_model"));
  ModelInfo info = *result.model;
  info.failed = "gate (0123456789ab)";
  result.model = std::make_shared<ModelInfo>(info);
  EXPECT_EQ(Json::parse(attributes_payload(result, {}, ""))["failed_model"], "gate (0123456789ab)");
}

TEST(MqttPayloads, AttributesHaveAtMostTenResults) {
  Result result = change_to(0, 0.5F);
  result.top.assign(50, {0, "cat", 0.01F});
  EXPECT_EQ(Json::parse(attributes_payload(result, {}, ""))["results"].size(), 10U);
}

TEST(MqttPayloads, AnEventIsTheJsonLineOfTheState) {
  JsonFormat format(mqtt_run_info());
  std::string line;
  format.append_state(change_to(1, 0.9F), "", line);
  const std::string event = event_payload(line, "");
  EXPECT_EQ(event.back(), '}');
  Json json = Json::parse(event);
  EXPECT_EQ(json["event_type"], "changed");
  json.erase("event_type");
  EXPECT_EQ(json, Json::parse(line));
}

TEST(MqttPayloads, AnEventMayKnowAnotherStateBefore) {
  JsonFormat format(mqtt_run_info());
  for (const bool known : {false, true}) {
    Result result = change_to(1, 0.9F);
    if (known) result.previous_state = class_state(0, 0.8F);
    std::string line;
    format.append_state(result, "a \"previous\":b", line);
    const Json event = Json::parse(event_payload(line, "a \"fox\""));
    EXPECT_EQ(event["previous"], "a \"fox\"");
    EXPECT_EQ(event["state"], "dog");
    EXPECT_EQ(event["file"], "a \"previous\":b");
  }
}

class MqttCommandTest : public testing::Test {
 protected:
  std::optional<MqttCommand> parse(const std::string& topic, const std::string& payload,
                                   bool retained = false, bool commands = true) const {
    return parse_command({topic, payload, 1, retained}, topics_, commands);
  }

  MqttTopics topics_ = mqtt_topics("lookout", "front", "m", "homeassistant");
};

TEST_F(MqttCommandTest, SwitchesOnAndOffAndTakesPictures) {
  EXPECT_EQ(parse("lookout/front/enabled/set", "ON"), MqttCommand::kEnable);
  EXPECT_EQ(parse("lookout/front/enabled/set", "OFF"), MqttCommand::kDisable);
  EXPECT_EQ(parse("lookout/front/snapshot/set", "PRESS"), MqttCommand::kSnapshot);
  EXPECT_EQ(parse("homeassistant/status", "online"), MqttCommand::kRepublish);
}

TEST_F(MqttCommandTest, NothingElseIsACommand) {
  EXPECT_FALSE(parse("lookout/front/enabled/set", "on"));
  EXPECT_FALSE(parse("lookout/front/enabled/set", ""));
  EXPECT_FALSE(parse("lookout/back/enabled/set", "ON"));
  EXPECT_FALSE(parse("homeassistant/status", "offline"));
}

TEST_F(MqttCommandTest, RetainedOnesAreIgnored) {
  EXPECT_FALSE(parse("lookout/front/enabled/set", "OFF", /*retained=*/true));
  EXPECT_FALSE(parse("lookout/front/snapshot/set", "", /*retained=*/true));
}

TEST_F(MqttCommandTest, UnlessTheyArePermittedOnlyHomeAssistantsStartCounts) {
  EXPECT_FALSE(parse("lookout/front/enabled/set", "OFF", false, /*commands=*/false));
  EXPECT_EQ(parse("homeassistant/status", "online", false, /*commands=*/false),
            MqttCommand::kRepublish);
  topics_ = mqtt_topics("lookout", "front", "m", "");
  EXPECT_FALSE(parse("", "online"));
}

}  // namespace
}  // namespace lookout
