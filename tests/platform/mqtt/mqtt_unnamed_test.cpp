// A run that watches one thing, without a name: every topic and payload is as it was before there
// were several watches, to the byte.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

#include "platform/mqtt/home_assistant.h"
#include "tests/platform/mqtt/mqtt_feed_testing.h"

namespace lookout {
namespace {

using std::chrono::seconds;

// QoS, whether it is retained, topic and payload, of statistics only the beginning.
constexpr const char* kMessages =
    R"(1 retained lookout/front/available online)"
    "\n"
    R"(1 retained homeassistant/device/lookout_m_front/config a device with fake)"
    "\n"
    R"(1 retained lookout/front/enabled ON)"
    "\n"
    R"(1 retained lookout/front/camera online)"
    "\n"
    R"(1 retained lookout/front/snapshot JPEG)"
    "\n"
    R"(1 retained lookout/front/state dog)"
    "\n"
    R"(1 retained lookout/front/state/attributes {"index":1,"class_id":"n2","score":0.9000,)"
    R"("previous":"cat","since":1795000000.000,"results":[{"label":"dog","score":0.9000},)"
    R"({"label":"cat","score":0.1000}]})"
    "\n"
    R"(1 lookout/front/event {"event_type":"changed","schema":1,"type":"state",)"
    R"("camera":"front","model":"fake","seq":0,"timestamp":1795000000.000,"state":"dog",)"
    R"("index":1,"score":0.9000,"previous":"cat"})"
    "\n"
    R"(0 lookout/front/stats {"schema":1,"type":"stats","camera":"front","model":"fake")"
    "\n"
    R"(1 retained lookout/front/state/attributes {"index":1,"class_id":"n2","score":0.2500,)"
    R"("previous":"cat","since":1795000000.000,"results":[{"label":"dog","score":0.2500},)"
    R"({"label":"cat","score":0.7500}]})"
    "\n"
    R"(1 retained lookout/front/state cat)"
    "\n"
    R"(1 retained lookout/front/state/attributes {"index":0,"class_id":"n1","score":0.9000,)"
    R"("previous":"dog","since":1795000000.000,"results":[{"label":"cat","score":0.9000},)"
    R"({"label":"dog","score":0.1000}]})"
    "\n"
    R"(1 lookout/front/event {"event_type":"changed","schema":1,"type":"state",)"
    R"("camera":"front","model":"fake","seq":0,"timestamp":1795000000.000,"state":"cat",)"
    R"("index":0,"score":0.9000,"previous":"dog"})"
    "\n"
    R"(1 retained lookout/front/camera offline)"
    "\n"
    R"(1 retained lookout/front/enabled OFF)"
    "\n"
    R"(1 retained lookout/front/snapshot JPEG)"
    "\n"
    R"(1 retained lookout/front/available online)"
    "\n"
    R"(1 retained homeassistant/device/lookout_m_front/config a device with fake)"
    "\n"
    R"(1 retained lookout/front/enabled OFF)"
    "\n"
    R"(1 retained lookout/front/camera offline)"
    "\n"
    R"(1 retained lookout/front/state cat)"
    "\n"
    R"(1 retained lookout/front/state/attributes {"index":0,"class_id":"n1","score":0.9000,)"
    R"("previous":"dog","since":1795000000.000,"results":[{"label":"cat","score":0.9000},)"
    R"({"label":"dog","score":0.1000}]})"
    "\n"
    R"(1 retained lookout/front/snapshot JPEG)"
    "\n"
    R"(0 lookout/front/stats {"schema":1,"type":"stats","camera":"front","model":"fake")"
    "\n"
    R"(0 lookout/front/stats {"schema":1,"type":"stats","camera":"front","model":"fake")"
    "\n"
    R"(1 retained lookout/front/available stopped)"
    "\n";

constexpr const char* kDevice =
    R"({"cmps":{"camera":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"}],)"
    R"("dev_cla":"connectivity","ent_cat":"diagnostic","name":"Camera","p":"binary_sensor",)"
    R"("pl_off":"offline","pl_on":"online","stat_t":"lookout/front/camera",)"
    R"("uniq_id":"lookout_m_front_camera"},)"
    R"("change":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","evt_typ":["changed"],)"
    R"("ic":"mdi:eye-refresh","name":"Change","p":"event","stat_t":"lookout/front/event",)"
    R"("uniq_id":"lookout_m_front_change"},)"
    R"("enabled":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"}],)"
    R"("cmd_t":"lookout/front/enabled/set","ent_cat":"config","ic":"mdi:cctv",)"
    R"("name":"Enabled","p":"switch","stat_t":"lookout/front/enabled",)"
    R"("uniq_id":"lookout_m_front_enabled"},)"
    R"("image":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","cont_type":"image/jpeg",)"
    R"("img_t":"lookout/front/snapshot","name":"Last change","p":"image",)"
    R"("uniq_id":"lookout_m_front_image"},)"
    R"("latency":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","dev_cla":"duration",)"
    R"("ent_cat":"diagnostic","exp_aft":180,"name":"Latency","p":"sensor",)"
    R"("stat_cla":"measurement","stat_t":"lookout/front/stats","sug_dsp_prc":1,)"
    R"("uniq_id":"lookout_m_front_latency","unit_of_meas":"ms",)"
    R"("val_tpl":"{{ value_json.latency_ms.frame_age.p95 }}"},)"
    R"("picture":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","name":"Picture","p":"camera",)"
    R"("t":"lookout/front/snapshot","uniq_id":"lookout_m_front_picture"},)"
    R"("rate":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","ent_cat":"diagnostic",)"
    R"("exp_aft":180,"ic":"mdi:speedometer","name":"Rate","p":"sensor",)"
    R"("stat_cla":"measurement","stat_t":"lookout/front/stats","sug_dsp_prc":1,)"
    R"("uniq_id":"lookout_m_front_rate","unit_of_meas":"fps",)"
    R"("val_tpl":"{{ value_json.fps if value_json.fps > 0 else none }}"},)"
    R"("score":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","ic":"mdi:percent","name":"Score",)"
    R"("p":"sensor","stat_cla":"measurement","stat_t":"lookout/front/state/attributes",)"
    R"("sug_dsp_prc":1,"uniq_id":"lookout_m_front_score","unit_of_meas":"%",)"
    R"("val_tpl":"{{ (value_json.score * 100) | round(1) if value_json.score is not none else none }}"},)"
    R"("state":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all","dev_cla":"enum","ic":"mdi:eye",)"
    R"("json_attr_t":"lookout/front/state/attributes","name":"State","ops":["cat","dog",)"
    R"("unknown"],"p":"sensor","stat_t":"lookout/front/state",)"
    R"("uniq_id":"lookout_m_front_state"},)"
    R"("take_snapshot":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"},)"
    R"({"t":"lookout/front/camera"}],"avty_mode":"all",)"
    R"("cmd_t":"lookout/front/snapshot/set","ic":"mdi:camera","name":"Take a picture",)"
    R"("p":"button","uniq_id":"lookout_m_front_take_snapshot"},)"
    R"("temperature":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"}],)"
    R"("dev_cla":"temperature","ent_cat":"diagnostic","exp_aft":180,"name":"Temperature",)"
    R"("p":"sensor","stat_cla":"measurement","stat_t":"lookout/front/stats",)"
    R"("uniq_id":"lookout_m_front_temperature","unit_of_meas":"°C",)"
    R"("val_tpl":"{{ value_json.temperature_c }}"},)"
    R"("throttled":{"avty":[{"t":"lookout/front/available",)"
    R"("val_tpl":"{{ 'online' if value == 'online' else 'offline' }}"}],)"
    R"("dev_cla":"problem","ent_cat":"diagnostic","exp_aft":180,"name":"Throttled",)"
    R"("p":"binary_sensor","stat_t":"lookout/front/stats",)"
    R"("uniq_id":"lookout_m_front_throttled",)"
    R"("val_tpl":"{{ none if value_json.throttled is none else 'ON' if value_json.throttled % 16 > 0 else 'OFF' }}"}},)"
    R"("dev":{"cu":"http://pi.local:8090/","ids":["lookout_m_front"],"mdl":"fake",)"
    R"("mf":"lookout","name":"front","sw":")" LOOKOUT_VERSION
    R"("},"o":{"name":"lookout","sw":")" LOOKOUT_VERSION R"("},)"
    R"("qos":1})";

class MqttUnnamedTest : public MqttFeedTest {
 protected:
  static std::string shortened(const std::string& payload) {
    return payload.substr(0, payload.find(R"(,"interval_s")"));
  }
  std::string published() const {
    std::string text;
    for (const MqttMessage& message : broker_.published()) {
      const bool is_picture = message.payload.rfind("\xff\xd8", 0) == 0;
      text += fmt::format("{}{} {} {}\n", message.qos, message.retained ? " retained" : "",
                          message.topic, is_picture ? "JPEG" : shortened(message.payload));
    }
    return text;
  }
};

TEST_F(MqttUnnamedTest, PublishesWhatItAlwaysDid) {
  MqttFeedOptions options;
  options.commands = true;
  options.enable = [](bool) {};
  make(options);
  connect();
  change(1);
  stats();
  slots_->put(result_with(1, 0.25F), small_frame());
  pass(seconds(1));
  change(0);
  broker_.send({topics_.set_enabled, "OFF", 1, false});
  slots_->put(CameraStatus{false, {}});
  turn();
  broker_.send({topics_.take_snapshot, "", 1, false});
  turn();
  slots_->put(result_with(0, 0.5F), small_frame());
  broker_.send({topics_.birth, "online", 1, false});
  turn();
  pass(seconds(5));
  pass(seconds(5));
  feed_->stop();
  link_->advance(false, false);
  EXPECT_EQ(published(), kMessages);
}

TEST(MqttUnnamed, IsTheDeviceThatItAlwaysWas) {
  DiscoveryFacts facts;
  facts.commands = true;
  facts.page = "http://pi.local:8090/";
  const std::string payload =
      discovery_payload(mqtt_topics("lookout", "front", "m", "homeassistant"), "front",
                        {{nullptr, mqtt_model()}}, {}, facts);
  EXPECT_EQ(payload, kDevice);
}

}  // namespace
}  // namespace lookout
