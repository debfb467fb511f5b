#include "platform/mqtt/mqtt_reporter.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/mqtt/mqtt_client.h"
#include "tests/platform/mqtt/fake_broker.h"
#include "tests/platform/mqtt/mqtt_testing.h"
#include "tests/support/fakes.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using Payloads = std::vector<std::string>;

class MqttReporterTest : public testing::Test {
 protected:
  MqttReporterTest() {
    broker_.retain(topics_.owner, to_payload({"m", "pi"}));
    broker_.retain(topics_.state, "cat");
  }

  std::unique_ptr<MqttReporter> make(OpenMqtt open) const {
    MqttFeedOptions feed;
    feed.topics = topics_;
    feed.machine = {"m", "pi"};
    feed.info = mqtt_run_info();
    auto reporter = std::make_unique<MqttReporter>(
        MqttLinkOptions(), std::move(feed), std::move(open), std::make_shared<MqttCounters>());
    reporter->watching({{nullptr, mqtt_model()}});
    return reporter;
  }

  const MqttTopics topics_ = mqtt_topics("lookout", "front", "m", "");
  FakeBroker broker_;
};

TEST_F(MqttReporterTest, PublishesFromTheStartToTheEnd) {
  auto reporter = make(broker_.open());
  broker_.wait_until([this] { return !broker_.of(topics_.camera).empty(); });
  reporter->report(change_to(1, 0.9F), small_frame());
  broker_.wait_until([this] { return !broker_.of(topics_.event).empty(); });
  reporter->status({false, {}});
  broker_.wait_until([this] { return broker_.of(topics_.camera).size() == 2; });
  reporter->tick({});
  broker_.wait_until([this] { return !broker_.of(topics_.stats).empty(); });
  reporter.reset();
  EXPECT_EQ(broker_.of(topics_.state), Payloads{"dog"});
  EXPECT_EQ(broker_.of(topics_.available), (Payloads{"online", "stopped"}));
  EXPECT_TRUE(broker_.left_properly());
}

TEST_F(MqttReporterTest, ABrokerThatIsAwayOrSilentHoldsUpNothing) {
  broker_.set_greeting({});
  auto reporter = make(broker_.open());
  for (int i = 0; i < 1000; ++i) reporter->report(change_to(1, 0.9F), small_frame());
  reporter.reset();
  EXPECT_TRUE(broker_.published().empty());
}

// The end waits for the last message, but not for ever.
TEST_F(MqttReporterTest, ABrokerThatAcknowledgesNothingDoesNotKeepTheProgram) {
  broker_.set_answer([](const MqttMessage&) { return std::nullopt; });
  auto reporter = make(broker_.open());
  broker_.wait_until([this] { return !broker_.of(topics_.camera).empty(); });
  reporter.reset();
  EXPECT_TRUE(broker_.left_properly());
}

// As while a name is being resolved.
TEST_F(MqttReporterTest, AnAttemptThatDoesNotReturnOutlivesTheReporter) {
  const auto gate = std::make_shared<Gate>();
  const auto returned = std::make_shared<Gate>();
  class Stuck : public MqttTransport {
   public:
    Stuck(std::shared_ptr<Gate> gate, std::shared_ptr<Gate> returned)
        : gate_(std::move(gate)), returned_(std::move(returned)) {}
    ~Stuck() override { returned_->open(); }
    std::optional<MqttFailure> connect() override {
      gate_->wait();
      return std::nullopt;
    }
    int fd() const override { return -1; }
    bool wants_write() const override { return false; }
    std::optional<MqttFailure> advance(bool, bool) override { return std::nullopt; }
    MqttPublished publish(const MqttMessage&) override { return {}; }
    void subscribe(const std::string&) override {}
    void unsubscribe(const std::string&) override {}
    void disconnect() override {}

   private:
    std::shared_ptr<Gate> gate_;
    std::shared_ptr<Gate> returned_;
  };
  auto reporter = make([gate, returned](const MqttSettings&, MqttListener&) {
    return std::make_unique<Stuck>(gate, returned);
  });
  reporter.reset();
  gate->open();
  returned->wait();
}

class MqttVisitTest : public testing::Test {
 protected:
  // The broker has the discovery of these cameras, and answers as soon as somebody listens.
  void retain(const Payloads& cameras, const std::vector<MqttMessage>& others = {}) {
    broker_.set_greeting([this, cameras, others](MqttListener& listener) {
      listener.on_connected();
      for (const std::string& camera : cameras) {
        const MqttTopics topics = mqtt_topics("lookout", camera, "m", "ha");
        broker_.send({topics.config, R"({"dev":{"name":")" + camera + R"("}})", 1, true});
      }
      for (const MqttMessage& message : others) broker_.send(message);
      broker_.send({"ha/device/lookout_other_front/config", R"({"dev":{"name":"x"}})", 1, true});
      broker_.send({"ha/device/zigbee/config", "no JSON", 1, true});
      return std::optional<MqttFailure>();
    });
  }
  Forgotten forget(const std::string& camera, bool all_machines = false) {
    MqttClient visit({}, broker_.open());
    return forget_camera(visit, {camera, "lookout", "m", "ha", all_machines});
  }
  // The topics that were emptied.
  std::set<std::string> emptied() const {
    std::set<std::string> topics;
    for (const MqttMessage& message : broker_.published()) {
      EXPECT_TRUE(message.retained && message.payload.empty()) << message.topic;
      topics.insert(message.topic);
    }
    return topics;
  }
  static std::set<std::string> all_of(const MqttTopics& topics) {
    return {topics.config,     topics.available, topics.camera,  topics.state,
            topics.attributes, topics.snapshot,  topics.enabled, topics.owner};
  }
  // A camera of another machine.
  MqttMessage other(const std::string& camera, const std::string& prefix = "lookout") const {
    const MqttTopics topics = mqtt_topics(prefix, camera, "other", "ha");
    return {topics.config,
            R"({"dev":{"name":")" + camera + R"("},"cmps":{"camera":{"stat_t":")" + topics.camera +
                R"("}}})",
            1, true};
  }

  FakeBroker broker_;
};

TEST_F(MqttVisitTest, ForgetsTheOnlyCameraOfThisMachine) {
  retain({"front"});
  const Forgotten forgotten = forget("");
  EXPECT_EQ(forgotten.camera, "front");
  EXPECT_TRUE(forgotten.remaining.empty());
  EXPECT_EQ(emptied(), all_of(mqtt_topics("lookout", "front", "m", "ha")));
  EXPECT_TRUE(broker_.left_properly());
}

TEST_F(MqttVisitTest, AnotherMachinesCameraStaysUnlessAllMachinesAreMeant) {
  retain({"front"}, {other("front"), other("front", "upstairs"), other("back")});
  broker_.retain("lookout/front/owner", to_payload({"other", "pi2"}));
  const MqttTopics ours = mqtt_topics("lookout", "front", "m", "ha");
  EXPECT_EQ(forget("").remaining, Payloads{"the machine pi2 (other)"});
  EXPECT_EQ(emptied(), std::set<std::string>{ours.config});
  broker_.forget_published();
  EXPECT_TRUE(forget("front", /*all_machines=*/true).remaining.empty());
  std::set<std::string> all = all_of(ours);
  all.insert(other("front").topic);
  EXPECT_EQ(emptied(), all);
}

TEST_F(MqttVisitTest, ForgetsWhateverItsWatchesHaveLeft) {
  retain({"front"});
  const MqttTopics topics = mqtt_topics("lookout", "front", "m", "ha");
  std::set<std::string> all = all_of(topics);
  for (const char* topic : {"watch", "watch/gate/state", "watch/gate/attributes",
                            "watch/gate/snapshot", "watch/lamp/state"}) {
    all.insert("lookout/front/" + std::string(topic));
    broker_.retain("lookout/front/" + std::string(topic), "x");
  }
  broker_.retain("lookout/front2/watch/gate/state", "x");
  forget("front");
  EXPECT_EQ(emptied(), all);
}

TEST_F(MqttVisitTest, ACameraThatAnotherMachineAloneHasIsNamed) {
  retain({}, {other("front")});
  broker_.retain("lookout/front/owner", to_payload({"other", "pi2"}));
  expect_error(ErrorKind::kNoInput, testing::HasSubstr("other machines have front"),
               [this] { forget(""); });
  expect_error(ErrorKind::kNoInput, testing::HasSubstr("of the machine pi2 (other)"),
               [this] { forget("front"); });
  EXPECT_TRUE(broker_.published().empty());
  EXPECT_EQ(forget("", /*all_machines=*/true).camera, "front");
}

TEST_F(MqttVisitTest, OfAnotherMachineThatNeverClaimedTheTopicsItsDeviceRemains) {
  retain({"front"}, {other("front")});
  EXPECT_EQ(forget("").remaining, Payloads{"the machine other"});
  EXPECT_EQ(emptied().count("lookout/front/state"), 1U);
}

TEST_F(MqttVisitTest, OfSeveralCamerasOneHasToBeNamed) {
  retain({"front", "back"});
  expect_error(ErrorKind::kUsage, testing::HasSubstr("one of front, back"), [this] { forget(""); });
  EXPECT_TRUE(broker_.published().empty());
  EXPECT_EQ(forget("back").camera, "back");
}

TEST_F(MqttVisitTest, SaysThatThereIsNoCamera) {
  retain({});
  expect_error(ErrorKind::kNoInput, testing::HasSubstr("no camera of this machine"),
               [this] { forget(""); });
}

TEST_F(MqttVisitTest, ABrokerThatRefusesIsAnError) {
  broker_.set_greeting(FakeBroker::refuse(134));
  expect_error(ErrorKind::kDeviceLost, testing::HasSubstr("refuses the user name or password"),
               [this] { forget("front"); });
}

}  // namespace
}  // namespace lookout
