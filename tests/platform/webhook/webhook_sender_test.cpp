#include "platform/webhook/webhook_sender.h"

#include <string>
#include <vector>

#include "tests/platform/webhook/fake_webhook.h"
#include "tests/support/captured_log.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using std::chrono::duration;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

WebhookOutcome status(int status) { return {status, {}, {}}; }

class WebhookSenderTest : public testing::Test {
 protected:
  WebhookSenderTest() {
    WebhookText text;
    text.url = "https://host/secret";
    text.url_is_secret = true;
    text.secret_headers = {"Authorization: secret"};
    text.body = "{watch}={state}";
    sender_.emplace(parse_webhook(text), *transport_, counters_,
                    WebhookChance{[this] { return now_; }, [this] { return random_; }});
  }

  void put(const std::string& watch, const std::string& state) {
    sender_->put({{"front", watch, state, "", {}, ""}, ""});
    sender_->advance();
  }
  void answer(const WebhookOutcome& outcome) {
    server_.answer(outcome);
    sender_->advance();
  }
  std::vector<std::string> bodies() {
    std::vector<std::string> bodies;
    for (const auto& request : server_.requests()) bodies.push_back(request.body);
    return bodies;
  }
  // Seconds until the next request may begin.
  double delay() const { return duration<double>(sender_->next_due() - now_).count(); }
  void wait_until_due() {
    now_ = sender_->next_due();
    sender_->advance();
  }

  CapturedLog log_;
  FakeWebhook server_;
  std::unique_ptr<WebhookTransport> transport_ = server_.open();
  std::shared_ptr<WebhookCounters> counters_ = std::make_shared<WebhookCounters>();
  Clock::time_point now_{std::chrono::hours(1000)};
  double random_ = 0;
  std::optional<WebhookSender> sender_;
};

TEST_F(WebhookSenderTest, SendsOneMessageAfterTheOther) {
  put("", "open");
  put("", "closed");
  EXPECT_THAT(bodies(), ElementsAre("=open"));
  EXPECT_EQ(sender_->next_due(), Clock::time_point::max());
  answer(status(200));
  EXPECT_THAT(bodies(), ElementsAre("=open", "=closed"));
  answer(status(204));
  EXPECT_FALSE(sender_->is_busy(Clock::time_point::max()));
  EXPECT_EQ(counters_->sent, 2U);
  EXPECT_EQ(counters_->failed + counters_->dropped, 0U);
  EXPECT_EQ(log_.text(), "");
}

TEST_F(WebhookSenderTest, OfEachWatchTheNewestWaits) {
  put("gate", "1");
  put("gate", "2");
  put("door", "1");
  put("gate", "3");
  for (int i = 0; i < 3; ++i) answer(status(200));
  EXPECT_THAT(bodies(), ElementsAre("gate=1", "gate=3", "door=1"));
  EXPECT_EQ(counters_->sent, 3U);
  EXPECT_EQ(counters_->dropped, 1U);
}

TEST_F(WebhookSenderTest, TriesAgainLaterAndLater) {
  put("", "open");
  std::vector<double> delays;
  for (int i = 0; i < 11; ++i) {
    answer(status(500 + i));
    delays.push_back(delay());
    wait_until_due();
  }
  EXPECT_THAT(delays, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300));
  answer(status(200));
  EXPECT_EQ(bodies().size(), 12U);
  EXPECT_EQ(counters_->sent, 1U);
  EXPECT_EQ(counters_->failed, 11U);
  // The next failure is a first one.
  put("", "closed");
  answer(status(500));
  EXPECT_EQ(delay(), 1);
}

TEST_F(WebhookSenderTest, DelaysVary) {
  random_ = 1;
  put("", "open");
  answer(status(503));
  EXPECT_EQ(delay(), 0.75);
}

TEST_F(WebhookSenderTest, DoesNotTrySoonerThanTheServerSays) {
  random_ = 1;
  put("", "open");
  answer({429, {}, seconds(20)});
  EXPECT_EQ(delay(), 20);
  wait_until_due();
  answer({503, {}, seconds(100'000'000'000)});
  EXPECT_EQ(delay(), 300);
}

TEST_F(WebhookSenderTest, ANewerMessageReplacesTheOneThatFailed) {
  put("", "open");
  put("", "closed");
  answer(status(0));
  put("", "ajar");
  now_ += seconds(1);
  sender_->advance();
  answer(status(200));
  EXPECT_THAT(bodies(), ElementsAre("=open", "=ajar"));
  EXPECT_EQ(counters_->dropped, 2U);
}

TEST_F(WebhookSenderTest, WhatFailedGoesBeforeOtherWatches) {
  put("gate", "1");
  put("door", "1");
  answer(status(502));
  wait_until_due();
  answer(status(200));
  answer(status(200));
  EXPECT_THAT(bodies(), ElementsAre("gate=1", "gate=1", "door=1"));
}

TEST_F(WebhookSenderTest, WhatTheServerRefusesIsNotSentAgain) {
  for (const int refusal : {400, 401, 404, 301, 308}) {
    put("", "open");
    answer(status(refusal));
    EXPECT_EQ(sender_->next_due(), Clock::time_point::max()) << refusal;
  }
  EXPECT_EQ(counters_->dropped, 5U);
  for (const int later : {408, 425, 429, 500, 100}) {
    put("", "open");
    answer(status(later));
    EXPECT_LT(sender_->next_due(), Clock::time_point::max()) << later;
    wait_until_due();
    answer(status(200));
  }
}

TEST_F(WebhookSenderTest, EachFailureIsLoggedOnceWithoutSecrets) {
  for (int i = 0; i < 3; ++i) {
    put("", "open");
    answer(status(401));
  }
  put("", "open");
  answer({0, "Couldn't connect\nto server", {}});
  wait_until_due();
  answer(status(302));
  const std::string before = log_.text();
  EXPECT_THAT(before,
              AllOf(HasSubstr("webhook: host: status 401; such a message is not sent again"),
                    HasSubstr("webhook: host: Couldn't connect"),
                    HasSubstr("status 302: it redirects"), Not(HasSubstr("secret"))));
  EXPECT_EQ(before.find("401"), before.rfind("401"));
  put("", "open");
  answer(status(200));
  EXPECT_THAT(log_.text(), HasSubstr("webhook: host takes messages again"));
  put("", "open");
  answer(status(401));
  EXPECT_NE(log_.text().find("401"), log_.text().rfind("401"));
}

TEST_F(WebhookSenderTest, WatchesThatAreGoneAreForgotten) {
  put("gate", "1");
  put("gate", "2");
  put("door", "1");
  sender_->keep([](const std::string& watch) { return watch == "door"; });
  answer(status(200));
  answer(status(200));
  EXPECT_THAT(bodies(), ElementsAre("gate=1", "door=1"));
  EXPECT_EQ(counters_->dropped, 1U);
}

TEST_F(WebhookSenderTest, IsBusyWithWhatMayBeSentAtOnceAlone) {
  EXPECT_FALSE(sender_->is_busy(now_ + seconds(1)));
  put("", "open");
  EXPECT_TRUE(sender_->is_busy(now_));
  answer(status(500));
  EXPECT_FALSE(sender_->is_busy(now_));
  EXPECT_TRUE(sender_->is_busy(now_ + seconds(2)));
  sender_->drop_all();
  EXPECT_FALSE(sender_->is_busy(now_ + seconds(2)));
  EXPECT_EQ(counters_->dropped, 1U);
}

}  // namespace
}  // namespace lookout
