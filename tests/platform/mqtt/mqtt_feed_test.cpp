#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"
#include "tests/platform/mqtt/mqtt_feed_testing.h"
#include "tests/support/captured_log.h"
#include "tests/support/model_testing.h"

namespace lookout {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The size of a JPEG, and the grey of its middle.
std::pair<cv::Size, int> seen(const std::string& jpeg) {
  const std::vector<char> bytes(jpeg.begin(), jpeg.end());
  const cv::Mat picture = cv::imdecode(bytes, cv::IMREAD_GRAYSCALE);
  if (picture.empty()) return {{}, -1};
  return {picture.size(), picture.at<unsigned char>(picture.rows / 2, picture.cols / 2)};
}

TEST_F(MqttFeedTest, BeginsWithWhatIsRetained) {
  connect();
  const auto published = broker_.published();
  ASSERT_EQ(published.size(), 3U);
  EXPECT_EQ(published[0].topic, topics_.available);
  EXPECT_EQ(published[0].payload, "online");
  EXPECT_EQ(published[1].topic, topics_.config);
  EXPECT_EQ(published[2].topic, topics_.camera);
  for (const MqttMessage& message : published) {
    EXPECT_TRUE(message.retained && message.qos == 1) << message.topic;
  }
  EXPECT_EQ(broker_.subscribed(), (Payloads{topics_.available, topics_.owner, topics_.birth}));
}

TEST_F(MqttFeedTest, AnotherModelDescribesTheDeviceAgain) {
  connect();
  change(1);
  slots_->put(WatchList{{nullptr, model_with({"open", "shut"}, "doors")}});
  turn();
  EXPECT_EQ(of(topics_.config), (Payloads{"a device with fake", "a device with doors"}));
  pass(MqttWatch::kBetweenChanges);
  Result result = change_to(1, 0.9F);
  {
    const ModelInfoPtr doors = model_with({"open", "shut"}, "doors");
    result.previous_state = result.state;
    result.model = result.state.model = doors;
    result.state.prediction.label = doors->labels[1];
  }
  slots_->put(result, small_frame());
  turn();
  EXPECT_EQ(of(topics_.state), (Payloads{"dog", "shut"}));
  const Json event = Json::parse(of(topics_.event).at(1));
  EXPECT_EQ(event["model"], "doors");
  EXPECT_EQ(event["previous"], "dog");
}

TEST_F(MqttFeedTest, AChangeIsAStateAnEventAndAPicture) {
  connect();
  change(1, 200);
  EXPECT_EQ(of(topics_.state), Payloads{"dog"});
  EXPECT_EQ(Json::parse(of(topics_.attributes).at(0))["index"], 1);
  EXPECT_EQ(Json::parse(of(topics_.event).at(0))["state"], "dog");
  const auto [size, grey] = seen(of(topics_.snapshot).at(0));
  EXPECT_EQ(size, cv::Size(64, 48));
  EXPECT_NEAR(grey, 200, 2);
  for (const MqttMessage& message : broker_.published()) {
    EXPECT_EQ(message.retained, message.topic != topics_.event) << message.topic;
    EXPECT_EQ(message.qos, 1) << message.topic;
  }
}

TEST(MqttSlots, WakeTheirReaderForNewsAlone) {
  MqttSlots slots;
  int woken = 0;
  slots.put(WatchList{{nullptr, mqtt_model()}});
  slots.set_wake([&woken] { ++woken; });
  slots.put(result_with(1, 0.9F), small_frame());
  EXPECT_EQ(woken, 0);
  slots.put(change_to(1, 0.9F), small_frame());
  EXPECT_EQ(woken, 1);
  slots.take().watches->front().wants->result = true;
  slots.put(result_with(1, 0.9F), small_frame());
  EXPECT_EQ(woken, 2);
  slots.put(StatsSnapshot());
  slots.put(CameraStatus());
  EXPECT_EQ(woken, 4);
}

TEST_F(MqttFeedTest, FramesThatChangeNothingAreNotPublished) {
  connect();
  change(1);
  broker_.forget_published();
  for (int i = 0; i < 100; ++i) slots_->put(result_with(1, 0.9F), small_frame());
  turn();
  EXPECT_TRUE(broker_.published().empty());
}

TEST_F(MqttFeedTest, OfChangesWithin100MsTheNewestIsPublished) {
  connect();
  change(1);
  for (int i = 0; i < 9; ++i) change(i % 2 == 0 ? 0 : 1);
  change(0);
  EXPECT_EQ(of(topics_.state), Payloads{"dog"});
  EXPECT_EQ(feed_->next_due() - clock_.now(), milliseconds(100));
  pass(milliseconds(100));
  EXPECT_EQ(of(topics_.state), (Payloads{"dog", "cat"}));
  EXPECT_EQ(of(topics_.event).size(), 2U);
  EXPECT_EQ(counters_->dropped, 9U);
}

TEST_F(MqttFeedTest, PicturesCome10SApartAndTheLastChangeGetsOne) {
  connect();
  change(1, 50);
  pass(seconds(3));
  change(0, 150);
  EXPECT_EQ(of(topics_.snapshot).size(), 1U);
  pass(seconds(7));
  slots_->put(result_with(0, 0.9F), small_frame(151));  // any frame of the state will do
  turn();
  ASSERT_EQ(of(topics_.snapshot).size(), 2U);
  EXPECT_NEAR(seen(of(topics_.snapshot)[1]).second, 151, 2);
  pass(seconds(10));
  slots_->put(result_with(0, 0.9F), small_frame(152));
  turn();
  EXPECT_EQ(of(topics_.snapshot).size(), 2U);
  change(1, 200);
  EXPECT_EQ(of(topics_.snapshot).size(), 3U);
}

TEST_F(MqttFeedTest, PicturesAreTurnedAsTheViewSays) {
  MqttFeedOptions options;
  options.view.rotation = 90;
  make(options);
  connect();
  change(1);
  EXPECT_EQ(seen(of(topics_.snapshot).at(0)).first, cv::Size(48, 64));
}

TEST_F(MqttFeedTest, WithoutPicturesNoneAreCopied) {
  MqttFeedOptions options;
  options.pictures = false;
  make(options);
  connect();
  change(1);
  EXPECT_EQ(of(topics_.state), Payloads{"dog"});
  EXPECT_TRUE(of(topics_.snapshot).empty());
}

TEST_F(MqttFeedTest, StatisticsComeAgainForThoseWhoListenSinceTheDiscovery) {
  connect();
  stats();
  EXPECT_EQ(of(topics_.stats).size(), 1U);
  pass(seconds(5));
  EXPECT_EQ(of(topics_.stats).size(), 2U);
  pass(seconds(55));
  stats();
  ASSERT_EQ(of(topics_.stats).size(), 3U);
  const Json json = Json::parse(of(topics_.stats)[2]);
  EXPECT_EQ(json["type"], "stats");
  EXPECT_EQ(json["fps"], 2);
  const MqttMessage last = broker_.published().back();
  EXPECT_FALSE(last.retained);
  EXPECT_EQ(last.qos, 0);
}

TEST_F(MqttFeedTest, WithStatisticsTheScoreOfALastingStateIsRenewed) {
  connect();
  change(1);
  stats();
  slots_->put(result_with(1, 0.25F), small_frame());
  turn();
  const Payloads attributes = of(topics_.attributes);
  ASSERT_EQ(attributes.size(), 2U);
  EXPECT_NEAR(Json::parse(attributes[1])["score"].get<double>(), 0.25, 1e-4);
  EXPECT_EQ(Json::parse(attributes[1])["since"], Json::parse(attributes[0])["since"]);
  EXPECT_EQ(of(topics_.event).size(), 1U);
}

TEST_F(MqttFeedTest, ACameraThatGoesAndComesIsPublished) {
  connect();
  slots_->put(CameraStatus{false, {}});
  turn();
  slots_->put(CameraStatus{true, {}});
  turn();
  EXPECT_EQ(of(topics_.camera), (Payloads{"online", "offline", "online"}));
}

TEST_F(MqttFeedTest, AfterALossEverythingRetainedComesAgainButNoOldEvent) {
  connect();
  change(1);
  broker_.act(FakeBroker::fail(MqttFailure::Kind::kLost));
  turn();
  broker_.forget_published();
  change(0);
  slots_->put(CameraStatus{false, {}});
  pass(seconds(1));
  turn();
  turn();
  EXPECT_EQ(of(topics_.available), Payloads{"online"});
  EXPECT_EQ(of(topics_.camera), Payloads{"offline"});
  EXPECT_EQ(of(topics_.state), Payloads{"cat"});
  EXPECT_EQ(of(topics_.snapshot).size(), 1U);
  EXPECT_TRUE(of(topics_.event).empty());
  EXPECT_EQ(counters_->dropped, 1U);
}

TEST_F(MqttFeedTest, HomeAssistantsStartIsAnsweredAfterARandomTime) {
  connect();
  change(1);
  stats();
  broker_.forget_published();
  broker_.send({topics_.birth, "online", 1, false});
  turn();
  pass(milliseconds(2400));
  EXPECT_TRUE(broker_.published().empty());
  pass(milliseconds(100));
  EXPECT_EQ(of(topics_.config), Payloads{"a device with fake"});
  EXPECT_EQ(of(topics_.state), Payloads{"dog"});
  EXPECT_EQ(of(topics_.snapshot).size(), 1U);
  EXPECT_EQ(of(topics_.stats).size(), 1U);
  pass(seconds(5));
  EXPECT_EQ(of(topics_.stats).size(), 2U);
  EXPECT_TRUE(of(topics_.event).empty());
}

TEST_F(MqttFeedTest, CommandsSwitchTheSourceAndAskForPictures) {
  std::vector<bool> asked;
  connect_with_commands(asked);
  EXPECT_EQ(of(topics_.enabled), Payloads{"ON"});
  EXPECT_EQ(broker_.subscribed(), (Payloads{topics_.available, topics_.owner, topics_.birth,
                                            topics_.set_enabled, topics_.take_snapshot}));
  broker_.send({topics_.set_enabled, "OFF", 1, false});
  turn();
  broker_.send({topics_.set_enabled, "ON", 1, false});
  pass(seconds(1));
  EXPECT_EQ(asked, (std::vector<bool>{false, true}));
  EXPECT_EQ(of(topics_.enabled), (Payloads{"ON", "OFF", "ON"}));
  broker_.send({topics_.take_snapshot, "PRESS", 1, false});
  turn();
  slots_->put(result_with(1, 0.9F), small_frame(70));
  turn();
  EXPECT_NEAR(seen(of(topics_.snapshot).at(0)).second, 70, 2);
}

TEST_F(MqttFeedTest, OfManyCommandsTheNewestIsObeyedOnceASecond) {
  const CapturedLog log;
  std::vector<bool> asked;
  connect_with_commands(asked);
  for (int i = 0; i < 3000; ++i) {
    broker_.send({topics_.set_enabled, i % 2 == 0 ? "ON" : "OFF", 1, false});
    if (i % 100 == 0) turn();
  }
  pass(seconds(1));
  pass(seconds(1));
  EXPECT_EQ(asked, (std::vector<bool>{true, false}));
  EXPECT_EQ(log.text().find("by a command"), log.text().rfind("by a command")) << log.text();
}

TEST_F(MqttFeedTest, AtMostOnePictureASecondIsTakenOnCommand) {
  MqttFeedOptions options;
  options.commands = true;
  make(options);
  connect();
  for (int i = 0; i < 5; ++i) {
    broker_.send({topics_.take_snapshot, "", 1, false});
    turn();
    slots_->put(result_with(1, 0.9F), small_frame());
    turn();
  }
  EXPECT_EQ(of(topics_.snapshot).size(), 1U);
}

TEST_F(MqttFeedTest, CommandsAreIgnoredUnlessTheyArePermitted) {
  MqttFeedOptions options;
  bool asked = false;
  options.enable = [&asked](bool) { asked = true; };
  make(options);
  connect();
  broker_.send({topics_.set_enabled, "OFF", 1, false});
  turn();
  EXPECT_FALSE(asked);
  EXPECT_TRUE(of(topics_.enabled).empty());
}

TEST_F(MqttFeedTest, EndsWithStopped) {
  connect();
  feed_->stop();
  link_->advance(false, false);
  EXPECT_EQ(of(topics_.available), (Payloads{"online", "stopped"}));
}

}  // namespace
}  // namespace lookout
