#include "platform/mqtt/home_assistant.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/platform/mqtt/mqtt_testing.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

class HomeAssistantTest : public testing::Test {
 protected:
  Json device() const {
    const WatchList watches{{nullptr, std::make_shared<ModelInfo>(model_)}};
    return Json::parse(discovery_payload(topics_, camera_, watches, {}, facts_));
  }
  Json entities() const { return device()["cmps"]; }
  Json entity(const std::string& key) const { return entities().at(key); }
  bool has(const std::string& key) const { return entities().contains(key); }

  MqttTopics topics_ = mqtt_topics("lookout", "front", "m", "homeassistant");
  std::string camera_ = "front";
  ModelInfo model_ = *mqtt_model();
  DiscoveryFacts facts_;
};

TEST_F(HomeAssistantTest, DescribesOneDevice) {
  const Json json = device();
  EXPECT_EQ(json["dev"]["ids"], Json::array({"lookout_m_front"}));
  EXPECT_EQ(json["dev"]["name"], "front");
  EXPECT_EQ(json["dev"]["mf"], "lookout");
  EXPECT_EQ(json["dev"]["mdl"], model_.name);
  EXPECT_EQ(json["dev"]["sw"], LOOKOUT_VERSION);
  EXPECT_EQ(json["o"]["name"], "lookout");
  EXPECT_FALSE(json["dev"].contains("cu"));
  facts_.page = "http://pi.local:8090/";
  EXPECT_EQ(device()["dev"]["cu"], facts_.page);
}

TEST_F(HomeAssistantTest, EveryEntityHasAPlatformANameAndAnIdOfItsOwn) {
  facts_.commands = true;
  std::set<std::string> ids;
  std::set<std::string> names;
  for (const Json& entity : entities()) {
    EXPECT_TRUE(entity["p"].is_string());
    EXPECT_TRUE(ids.insert(entity["uniq_id"]).second);
    EXPECT_TRUE(names.insert(entity["name"]).second);
  }
  EXPECT_EQ(ids.size(), 12U);
}

TEST_F(HomeAssistantTest, TheStateHasTheLabelsAsOptions) {
  const Json state = entity("state");
  EXPECT_EQ(state["dev_cla"], "enum");
  EXPECT_EQ(state["ops"], Json::array({"cat", "dog", "unknown"}));
  EXPECT_EQ(state["stat_t"], topics_.state);
  EXPECT_EQ(state["json_attr_t"], topics_.attributes);
}

TEST_F(HomeAssistantTest, ManyLabelsAreNoOptions) {
  model_.labels.assign(33, "a");
  EXPECT_FALSE(entity("state").contains("ops"));
  EXPECT_FALSE(entity("state").contains("dev_cla"));
  model_.labels.pop_back();
  EXPECT_EQ(entity("state")["ops"].size(), 2U);  // each once
}

TEST_F(HomeAssistantTest, EntitiesAreAvailableWithTheProgramAndTheCamera) {
  const Json all = entities();
  for (const auto& [key, entity] : all.items()) {
    const Json& available = entity["avty"];
    EXPECT_EQ(available[0]["t"], topics_.available) << key;
    EXPECT_NE(available[0]["val_tpl"].get<std::string>().find("'online'"), std::string::npos);
    const bool of_program = key == "camera" || key == "temperature" || key == "throttled";
    EXPECT_EQ(available.size(), of_program ? 1U : 2U) << key;
    if (!of_program) {
      EXPECT_EQ(available[1]["t"], topics_.camera);
      EXPECT_EQ(entity["avty_mode"], "all");
    }
  }
}

TEST_F(HomeAssistantTest, TheCameraIsConnectedWhileItIsOnline) {
  const Json camera = entity("camera");
  EXPECT_EQ(camera["stat_t"], topics_.camera);
  EXPECT_EQ(camera["pl_on"], "online");
  EXPECT_EQ(camera["pl_off"], "offline");
  EXPECT_EQ(camera["dev_cla"], "connectivity");
}

TEST_F(HomeAssistantTest, FiguresExpireAfterThreeIntervals) {
  facts_.stats_interval = std::chrono::seconds(20);
  for (const std::string key : {"rate", "latency", "temperature", "throttled"}) {
    EXPECT_EQ(entity(key)["exp_aft"], 60) << key;
    EXPECT_EQ(entity(key)["ent_cat"], "diagnostic") << key;
    EXPECT_EQ(entity(key)["stat_t"], topics_.stats) << key;
  }
}

TEST_F(HomeAssistantTest, CallsUnderVoltageByItsNameWhereNoMoreIsKnown) {
  EXPECT_EQ(entity("throttled")["name"], "Throttled");
  facts_.voltage_alone = true;
  EXPECT_EQ(entity("throttled")["name"], "Under-voltage");
}

TEST_F(HomeAssistantTest, LeavesOutWhatThereIsNot) {
  EXPECT_TRUE(has("temperature") && has("throttled") && has("image") && has("picture"));
  EXPECT_FALSE(has("enabled") || has("take_snapshot"));
  facts_.has_temperature = false;
  facts_.has_throttling = false;
  facts_.pictures = false;
  facts_.commands = true;
  EXPECT_FALSE(has("temperature") || has("throttled") || has("image") || has("picture"));
  EXPECT_TRUE(has("enabled"));
  EXPECT_FALSE(has("take_snapshot"));
}

TEST_F(HomeAssistantTest, NamesMayHoldAnything) {
  camera_ = "a \"b\" \xff {{ 1 }}";
  model_.labels = {"\xff", "b"};
  EXPECT_TRUE(device()["dev"]["name"].is_string());
}

}  // namespace
}  // namespace lookout
