// Whose topics they are, and what is new to those who listen.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/platform/mqtt/mqtt_feed_testing.h"
#include "tests/support/captured_log.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

class MqttFeedOwnerTest : public MqttFeedTest {};

TEST_F(MqttFeedOwnerTest, TopicsThatNobodyHasAreClaimedFirst) {
  broker_.retain(topics_.owner, "");
  connect();
  EXPECT_TRUE(broker_.published().empty());
  EXPECT_EQ(feed_->next_due() - clock_.now(), MqttOwner::kQuiet);
  pass(MqttOwner::kQuiet);
  ASSERT_EQ(broker_.published().size(), 1U);
  EXPECT_EQ(broker_.published()[0].topic, topics_.owner);
  EXPECT_TRUE(broker_.published()[0].retained);
  turn();
  EXPECT_EQ(of(topics_.available), Payloads{"online"});
}

TEST_F(MqttFeedOwnerTest, OfAnotherMachinesTopicsNothingIsPublishedAndOneLineSaysSo) {
  const CapturedLog log;
  broker_.retain(topics_.owner, to_payload({"other", "pi2"}));
  broker_.retain(topics_.available, "online");
  for (int i = 0; i < 4; ++i) turn();  // connects again, without a will
  EXPECT_TRUE(link_->connected());
  EXPECT_FALSE(broker_.settings().will);
  change(1);
  stats();
  pass(std::chrono::minutes(2));
  broker_.act(FakeBroker::fail(MqttFailure::Kind::kLost));
  turn();
  pass(seconds(1));
  turn();
  feed_->stop();
  link_->advance(false, false);
  EXPECT_TRUE(broker_.published().empty());
  const std::string line =
      "lookout/front belongs to the machine pi2 (other), which is online: nothing is published";
  EXPECT_NE(log.text().find(line), std::string::npos) << log.text();
  EXPECT_NE(log.text().find("lookout mqtt forget --all-machines"), std::string::npos);
  EXPECT_EQ(log.text().find(line), log.text().rfind(line)) << log.text();
}

// As when both found no owner, and the broker got the other claim later.
TEST_F(MqttFeedOwnerTest, ItsDeviceGoesWhenItGivesWay) {
  connect();
  ASSERT_EQ(of(topics_.config), Payloads{"a device with fake"});
  broker_.forget_published();
  broker_.retain(topics_.owner, to_payload({"other", "pi2"}));
  broker_.send({topics_.owner, to_payload({"other", "pi2"}), 1, false});
  for (int i = 0; i < 4; ++i) turn();
  ASSERT_EQ(broker_.published().size(), 1U);
  EXPECT_EQ(of(topics_.config), Payloads{""});
  EXPECT_TRUE(broker_.left_properly());
  EXPECT_FALSE(broker_.settings().will);
}

TEST_F(MqttFeedOwnerTest, TopicsThatAreFreeAgainAreTaken) {
  broker_.retain(topics_.owner, to_payload({"other", "pi2"}));
  for (int i = 0; i < 4; ++i) turn();
  broker_.retain(topics_.owner, "");
  broker_.send({topics_.owner, "", 1, false});
  turn();
  pass(MqttOwner::kQuiet);
  turn();  // hears its claim, and connects again, with a will
  turn();
  turn();
  EXPECT_EQ(of(topics_.owner), Payloads{to_payload(kThis)});
  EXPECT_TRUE(broker_.settings().will);
  EXPECT_EQ(of(topics_.available), Payloads{"online"});
}

TEST_F(MqttFeedOwnerTest, AWillOfAnotherClientIsCorrectedOnceASecond) {
  connect();
  for (int i = 0; i < 3; ++i) {
    broker_.send({topics_.available, "offline", 1, false});
    turn();
  }
  EXPECT_EQ(of(topics_.available), (Payloads{"online", "online"}));
  pass(seconds(1));
  EXPECT_EQ(of(topics_.available).size(), 3U);
  pass(seconds(10));
  EXPECT_EQ(of(topics_.available).size(), 3U);
}

TEST_F(MqttFeedOwnerTest, ARestartThatChangesNothingIsNoEvent) {
  connect();
  change(0);
  EXPECT_EQ(of(topics_.state), Payloads{"cat"});
  EXPECT_TRUE(of(topics_.event).empty());
  pass(seconds(1));
  slots_->put(CameraStatus{false, {}});
  slots_->put(CameraStatus{true, {}});
  change(0);  // after a loss there is no state before
  EXPECT_TRUE(of(topics_.event).empty());
}

TEST_F(MqttFeedOwnerTest, TheFirstStateOfAllIsNoEvent) {
  broker_.retain(topics_.state, "");
  connect();
  change(0);
  EXPECT_EQ(of(topics_.state), Payloads{"cat"});
  EXPECT_TRUE(of(topics_.event).empty());
}

TEST_F(MqttFeedOwnerTest, AStateThatIsNotTheRetainedOneIsAnEvent) {
  change(1);  // before the connection
  connect();
  ASSERT_EQ(of(topics_.event).size(), 1U);
  EXPECT_EQ(Json::parse(of(topics_.event)[0])["previous"], "cat");
  EXPECT_EQ(Json::parse(of(topics_.attributes).back())["previous"], "cat");
}

}  // namespace
}  // namespace lookout
