#include "platform/mqtt/mqtt_address.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

TEST(MqttAddress, NamesAHostWithThePortOfItsScheme) {
  const MqttAddress plain = parse_mqtt_address("mqtt://broker");
  EXPECT_EQ(plain.host, "broker");
  EXPECT_EQ(plain.port, 1883);
  EXPECT_FALSE(plain.tls);
  EXPECT_EQ(to_text(plain), "mqtt://broker:1883");
  const MqttAddress tls = parse_mqtt_address("mqtts://lookout@broker.lan/");
  EXPECT_EQ(tls.host, "broker.lan");
  EXPECT_EQ(tls.port, 8883);
  EXPECT_EQ(tls.user, "lookout");
  EXPECT_TRUE(tls.tls);
  EXPECT_EQ(to_text(tls), "mqtts://broker.lan:8883");
}

TEST(MqttAddress, NamesAnIpAddress) {
  const MqttAddress v6 = parse_mqtt_address("mqtt://[::1]:1884");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.port, 1884);
  EXPECT_EQ(to_text(v6), "mqtt://[::1]:1884");
  EXPECT_EQ(parse_mqtt_address("mqtt://127.0.0.1:99").port, 99);
}

TEST(MqttAddress, NamesAUnixSocket) {
  const MqttAddress address = parse_mqtt_address("mqtt+unix:/run/mosquitto.sock");
  EXPECT_EQ(address.path, "/run/mosquitto.sock");
  EXPECT_EQ(to_text(address), "mqtt+unix:/run/mosquitto.sock");
  const MqttAddress with_user = parse_mqtt_address("mqtt+unix:me@/run/a@b");
  EXPECT_EQ(with_user.user, "me");
  EXPECT_EQ(with_user.path, "/run/a@b");
}

TEST(MqttAddress, RefusesOtherTexts) {
  for (const std::string text :
       {"broker", "mqtt:broker", "http://broker", "mqtt://", "mqtt://:1883", "mqtt://a:b:1",
        "mqtt://broker:0", "mqtt://broker:65536", "mqtt://broker:x", "mqtt://broker/topic",
        "mqtt://[::1", "mqtt://a b", "mqtt+unix:", "mqtt+unix:relative", "mqtts://me@"}) {
    EXPECT_THROW(parse_mqtt_address(text), Error) << text;
  }
  EXPECT_THROW(parse_mqtt_address("mqtt+unix:/" + std::string(200, 'a')), Error);
}

TEST(MqttAddress, NeverRepeatsAPassword) {
  for (const std::string text : {"mqtt://me:secret@broker", "mqtt://me:se@cret@broker:x",
                                 "http://me:secret@broker", "mqtt+unix:me:secret@/run/x"}) {
    try {
      parse_mqtt_address(text);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_EQ(std::string(error.what()).find("cret"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace lookout
