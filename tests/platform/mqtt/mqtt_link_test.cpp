#include "platform/mqtt/mqtt_link.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/platform/mqtt/fake_broker.h"
#include "tests/platform/mqtt/mqtt_testing.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using std::chrono::seconds;
using Kind = MqttFailure::Kind;

class MqttLinkTest : public testing::Test {
 protected:
  MqttLinkTest() : link_(options(), broker_.open(), counters_) {
    link_.set_handlers(
        {[this] { ++connections_; },
         [this](const MqttMessage& message) { received_.push_back(message.payload); }});
  }

  MqttLinkOptions options() {
    MqttLinkOptions options;
    options.party = {"mqtt://broker:1883", "lookout-m-front", false};
    options.now = [this] { return clock_.now(); };
    options.random = [] { return 1.0; };
    return options;
  }

  // Begins an attempt that is due, then carries out what the broker does.
  void attempt() {
    link_.advance(false, false);
    link_.advance(true, false);
  }
  // Lets the time pass until the next attempt; returns it.
  Clock::duration wait_for_attempt() {
    const auto delay = link_.next_due() - clock_.now();
    clock_.advance(delay);
    return delay;
  }
  void publish(const std::string& topic, const std::string& payload) {
    link_.publish({topic, payload, 1, true});
    link_.advance(false, false);
  }

  // How often the log has the text.
  int logged(const std::string& part) const {
    const std::string text = log_.text();
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  }

  TestClock clock_;
  FakeBroker broker_;
  std::shared_ptr<MqttCounters> counters_ = std::make_shared<MqttCounters>();
  CapturedLog log_;
  MqttLink link_;
  int connections_ = 0;
  std::vector<std::string> received_;
};

TEST_F(MqttLinkTest, ConnectsAtOnceAndSaysSo) {
  attempt();
  EXPECT_TRUE(link_.connected());
  EXPECT_EQ(connections_, 1);
  EXPECT_EQ(logged("mqtt: connected to mqtt://broker:1883"), 1);
}

TEST_F(MqttLinkTest, TriesAgainWithAGrowingDelay) {
  broker_.set_connect_failure(MqttFailure{Kind::kConnect, "Connection refused"});
  std::vector<seconds> delays;
  for (int i = 0; i < 8; ++i) {
    link_.advance(false, false);
    delays.push_back(std::chrono::duration_cast<seconds>(wait_for_attempt()));
  }
  const std::vector<seconds> expected{seconds(1),  seconds(2),  seconds(4),  seconds(8),
                                      seconds(16), seconds(32), seconds(60), seconds(60)};
  EXPECT_EQ(delays, expected);
  EXPECT_EQ(logged("cannot be reached (Connection refused)"), 1);
  broker_.set_connect_failure(std::nullopt);
  attempt();
  EXPECT_TRUE(link_.connected());
}

TEST_F(MqttLinkTest, DelaysAreRandomFromTheHalfOn) {
  MqttLinkOptions half = options();
  half.random = [] { return 0.0; };
  MqttLink link(half, broker_.open(), counters_);
  broker_.set_connect_failure(MqttFailure{Kind::kConnect, ""});
  link.advance(false, false);
  EXPECT_EQ(link.next_due() - clock_.now(), std::chrono::milliseconds(500));
}

TEST_F(MqttLinkTest, AQuietConnectionIsLookedAtEveryThreeSeconds) {
  broker_.set_greeting({});
  attempt();
  EXPECT_EQ(link_.next_due() - clock_.now(), seconds(1)) << "still connecting";
  broker_.set_greeting(FakeBroker::accept);
  MqttLink link(options(), broker_.open(), counters_);
  link.advance(false, false);
  link.advance(true, false);
  ASSERT_TRUE(link.connected());
  EXPECT_EQ(link.next_due() - clock_.now(), seconds(3)) << "a fifth of the keepalive";
}

TEST_F(MqttLinkTest, ASilentServerIsGivenUp) {
  broker_.set_greeting({});
  attempt();
  clock_.advance(seconds(9));
  link_.advance(false, false);
  EXPECT_EQ(logged("did not answer"), 0);
  clock_.advance(seconds(1));
  link_.advance(false, false);
  EXPECT_EQ(logged("did not answer within 10 s"), 1);
  EXPECT_EQ(link_.fd(), -1);
}

TEST_F(MqttLinkTest, ARefusalIsLoggedOnceUntilAConnectionWasStable) {
  broker_.set_greeting(FakeBroker::refuse(134));
  for (int i = 0; i < 3; ++i) {
    attempt();
    wait_for_attempt();
  }
  EXPECT_EQ(logged("refuses the user name or password"), 1);
  broker_.set_greeting(FakeBroker::accept);
  attempt();
  clock_.advance(seconds(61));
  link_.advance(false, false);
  broker_.set_greeting(FakeBroker::refuse(134));
  broker_.act(FakeBroker::fail(Kind::kLost));
  link_.advance(true, false);
  EXPECT_EQ(wait_for_attempt(), seconds(1));
  attempt();
  EXPECT_EQ(logged("refuses the user name or password"), 2);
}

TEST_F(MqttLinkTest, ABrokerThatComesAndGoesIsLoggedOnceAndAskedLessOften) {
  broker_.set_greeting([](MqttListener& listener) {
    listener.on_connected();
    listener.on_disconnected(142);
    return std::optional<MqttFailure>();
  });
  Clock::duration delay{};
  for (int i = 0; i < 5; ++i) {
    attempt();
    delay = wait_for_attempt();
  }
  EXPECT_EQ(delay, seconds(16));
  EXPECT_EQ(logged("another client took the name lookout-m-front"), 1);
  EXPECT_EQ(logged("mqtt: connected to"), 1);
  EXPECT_EQ(logged("mqtt: connected again"), 1);
}

TEST_F(MqttLinkTest, ConnectionsThatAreLostAgainAndAgainHintAtAnotherClient) {
  for (int i = 0; i < 3; ++i) {
    attempt();
    broker_.act(FakeBroker::fail(Kind::kLost));
    link_.advance(true, false);
    wait_for_attempt();
  }
  EXPECT_EQ(logged("was lost"), 1);
  EXPECT_EQ(logged("has another client the name lookout-m-front"), 1);
}

TEST_F(MqttLinkTest, AttemptsThatFailedAreNoConnectionsThatWereLost) {
  broker_.set_connect_failure(MqttFailure{Kind::kConnect, "Connection refused"});
  for (int i = 0; i < 3; ++i) {
    link_.advance(false, false);
    wait_for_attempt();
  }
  broker_.set_connect_failure(std::nullopt);
  attempt();
  broker_.act(FakeBroker::fail(Kind::kLost));
  link_.advance(true, false);
  EXPECT_EQ(logged("another client"), 0);
}

TEST_F(MqttLinkTest, ASubscriptionThatIsGrantedIsNotLogged) {
  attempt();
  broker_.act([](MqttListener& listener) {
    listener.on_subscribed(1);
    return std::optional<MqttFailure>();
  });
  link_.advance(true, false);
  EXPECT_EQ(logged("[warning]"), 0) << log_.text();
}

TEST_F(MqttLinkTest, ABrokerOfVersion311IsAskedAgainAtOnce) {
  broker_.set_greeting(FakeBroker::refuse(1));
  attempt();
  EXPECT_EQ(link_.next_due(), clock_.now());
  broker_.set_greeting(FakeBroker::accept);
  attempt();
  EXPECT_TRUE(link_.connected());
  EXPECT_FALSE(broker_.settings().version_5);
  EXPECT_EQ(logged("warning"), 0);
}

TEST_F(MqttLinkTest, ABrokerOfNoVersionIsNamed) {
  broker_.set_greeting(FakeBroker::refuse(132));
  attempt();
  attempt();
  EXPECT_EQ(logged("speaks neither MQTT 5 nor 3.1.1"), 1);
}

TEST_F(MqttLinkTest, CountsWhatTheBrokerReceived) {
  attempt();
  publish("a", "1");
  publish("a", "2");
  EXPECT_EQ(broker_.of("a"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(counters_->messages, 2U);
  EXPECT_EQ(counters_->dropped, 0U);
  EXPECT_TRUE(link_.idle());
}

TEST_F(MqttLinkTest, OfATopicOnlyTheNewestWaits) {
  attempt();
  broker_.set_answer([](const MqttMessage&) { return std::nullopt; });
  for (int i = 0; i < 1000; ++i) publish("a", std::to_string(i));
  publish("b", "other");
  EXPECT_EQ(broker_.of("a"), std::vector<std::string>{"0"});
  EXPECT_EQ(broker_.of("b"), std::vector<std::string>{"other"});
  EXPECT_EQ(counters_->dropped, 998U);
  broker_.act([](MqttListener& listener) {
    listener.on_published(1, 0);
    return std::optional<MqttFailure>();
  });
  link_.advance(true, false);
  EXPECT_EQ(broker_.of("a"), (std::vector<std::string>{"0", "999"}));
}

TEST_F(MqttLinkTest, WithoutAConnectionMessagesAreDropped) {
  publish("a", "1");
  EXPECT_EQ(counters_->dropped, 1U);
  attempt();
  EXPECT_TRUE(broker_.published().empty());
  broker_.set_answer([](const MqttMessage&) { return std::nullopt; });
  publish("a", "2");
  publish("a", "3");
  broker_.act(FakeBroker::fail(Kind::kSilent));
  link_.advance(true, false);
  EXPECT_EQ(counters_->dropped, 3U);
  EXPECT_TRUE(link_.idle());
  EXPECT_EQ(logged("does not answer any more"), 1);
}

TEST_F(MqttLinkTest, ATopicThatIsNotPermittedIsNamedOnce) {
  attempt();
  broker_.set_answer([](const MqttMessage&) { return 135; });
  publish("a", "1");
  publish("a", "2");
  EXPECT_EQ(logged("does not permit a to be written"), 1);
  EXPECT_EQ(counters_->messages, 0U);
  EXPECT_EQ(counters_->dropped, 2U);
}

TEST_F(MqttLinkTest, MessagesThatTheBrokerSaysAreTooLargeAreLeftOut) {
  broker_.set_max_size(1000);
  attempt();
  publish("picture", std::string(2000, 'x'));
  publish("picture", std::string(3000, 'x'));
  publish("picture", "small");
  EXPECT_EQ(broker_.of("picture"), std::vector<std::string>{"small"});
  EXPECT_EQ(logged("takes no message of 2 KB, as picture has"), 1);
}

TEST_F(MqttLinkTest, MessagesThatTheBrokerCannotTakeAreNamedOnceAndDropped) {
  broker_.set_problem("Requested QoS not supported.");
  attempt();
  publish("a", "1");
  publish("a", "2");
  EXPECT_EQ(logged("a cannot be published on mqtt://broker:1883: Requested QoS"), 1);
  EXPECT_EQ(counters_->dropped, 2U);
  EXPECT_TRUE(link_.idle());
}

TEST_F(MqttLinkTest, MessagesAtWhichTheBrokerClosesTheConnectionAreLeftOutAfterTheSecondTime) {
  for (int i = 0; i < 2; ++i) {
    attempt();
    broker_.set_answer([](const MqttMessage&) { return std::nullopt; });
    publish("state", "cat");
    publish("picture", std::string(200'000, 'x'));
    broker_.act(FakeBroker::fail(Kind::kLost));
    link_.advance(true, false);
    wait_for_attempt();
  }
  EXPECT_EQ(logged("takes no message of 196 KB, as picture has"), 1);
  attempt();
  publish("picture", std::string(200'000, 'x'));
  publish("state", "dog");
  EXPECT_EQ(broker_.published().size(), 5U);
}

TEST_F(MqttLinkTest, OneThatTheBrokerTookOnceIsNotBlamedForTwoLossesWithItBetweenThem) {
  for (int i = 0; i < 3; ++i) {
    attempt();
    broker_.set_answer([](const MqttMessage&) { return 0; });
    publish("picture", std::string(200'000, 'x'));
    link_.advance(true, false);
    broker_.set_answer([](const MqttMessage&) { return std::nullopt; });
    publish("picture", std::string(200'000, 'y'));
    broker_.act(FakeBroker::fail(Kind::kLost));
    link_.advance(true, false);
    wait_for_attempt();
  }
  EXPECT_EQ(logged("takes no message"), 0);
}

TEST_F(MqttLinkTest, AConnectionThatIsLostLaterIsNotBlamedOnAMessage) {
  for (int i = 0; i < 3; ++i) {
    attempt();
    publish("picture", std::string(200'000, 'x'));
    clock_.advance(seconds(6));
    broker_.act(FakeBroker::fail(Kind::kLost));
    link_.advance(true, false);
    wait_for_attempt();
  }
  EXPECT_EQ(logged("takes no message"), 0);
}

TEST_F(MqttLinkTest, PassesOnWhatComes) {
  attempt();
  broker_.send({"t", "hello", 0, false});
  link_.advance(true, false);
  EXPECT_EQ(received_, std::vector<std::string>{"hello"});
}

TEST_F(MqttLinkTest, ASubscriptionThatIsRefusedIsLoggedOnce) {
  attempt();
  for (int i = 0; i < 2; ++i) {
    broker_.act([](MqttListener& listener) {
      listener.on_subscribed(128);
      return std::optional<MqttFailure>();
    });
  }
  link_.advance(true, false);
  EXPECT_EQ(logged("does not permit lookout to listen"), 1);
}

TEST_F(MqttLinkTest, ClosesProperly) {
  attempt();
  link_.close();
  EXPECT_TRUE(broker_.left_properly());
  EXPECT_FALSE(link_.connected());
  clock_.advance(seconds(100));
  attempt();
  EXPECT_EQ(broker_.attempts(), 1);
}

TEST(MqttProblems, NameTheWayOut) {
  const MqttParty party{"mqtts://broker:8883", "me", false};
  const auto text = [&party](Kind kind, const std::string& detail,
                             MqttPhase phase = MqttPhase::kConnecting) {
    return problem_text({kind, detail}, phase, party);
  };
  const std::vector<std::pair<std::string, std::string>> expected{
      {text(Kind::kName, "Name or service not known"), "check mqtt.url"},
      {text(Kind::kTls, "OpenSSL Error[0]: certificate verify failed"), "mqtt.ca"},
      {text(Kind::kTls, "Error: host name verification failed."), "is for another name"},
      {text(Kind::kTls, "Error: Unable to load client key file \"k\"."), "mqtt.key"},
      {text(Kind::kTls, "wrong version number"), "is its port one for TLS?"},
      {text(Kind::kLost, ""), "closed the connection before it answered"},
      {text(Kind::kLost, "", MqttPhase::kConnected), "was lost"},
      {refusal_text(5, party), "access list"},
      {refusal_text(4, party), "mqtt.password-file"},
      {refusal_text(133, party), "does not accept the client's name me"},
      {refusal_text(3, party), "busy or stopping"},
      {refusal_text(157, party), "another broker"},
      {refusal_text(200, party), "code 200"},
      {refused_message_text("a", 151, party), "code 151"}};
  for (const auto& [sentence, part] : expected) {
    EXPECT_NE(sentence.find(part), std::string::npos) << sentence;
  }
}

TEST(MqttProblems, TellAServiceAboutItsNetwork) {
  const MqttParty party{"mqtt://broker:1883", "me", true};
  const MqttFailure failure{Kind::kConnect, "Network is unreachable"};
  EXPECT_NE(problem_text(failure, MqttPhase::kConnecting, party).find("mqtt.conf"),
            std::string::npos);
  const MqttParty local{"mqtt+unix:/run/x", "me", true};
  EXPECT_EQ(problem_text(failure, MqttPhase::kConnecting, local).find("mqtt.conf"),
            std::string::npos);
}

}  // namespace
}  // namespace lookout
