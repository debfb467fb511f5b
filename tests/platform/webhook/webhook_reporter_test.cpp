#include "platform/webhook/webhook_reporter.h"

#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/platform/webhook/fake_webhook.h"
#include "tests/support/captured_log.h"
#include "tests/support/fakes.h"
#include "tests/support/model_testing.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class WebhookReporterTest : public testing::Test {
 protected:
  WebhookReporterTest() {
    text_.url = "http://host/";
    text_.body = "{camera}/{watch}: {previous}, {state} {score}";
  }

  std::unique_ptr<WebhookReporter> make(milliseconds patience = hours(1)) {
    WebhookReporterOptions options;
    options.camera = "front";
    options.patience = patience;
    options.open = [this](const WebhookConnection&) { return server_.open(); };
    return std::make_unique<WebhookReporter>(parse_webhook(text_), std::move(options), counters_);
  }

  Result change_to(const std::string& label, const std::string& watch = "") {
    Result result;
    result.model = model_;
    result.sequence = ++frames_;
    if (!watch.empty()) result.watch = std::make_shared<WatchInfo>(WatchInfo{watch, {}});
    result.state_changed = true;
    result.previous_state.kind = SceneState::Kind::kUnknown;
    for (const std::string& known : model_->labels) {
      if (known == label) result.state = {SceneState::Kind::kClass, {0, known, 0.9F}, model_};
    }
    if (result.state.kind == SceneState::Kind::kNone) {
      result.state.kind = SceneState::Kind::kUnknown;
    }
    return result;
  }

  std::vector<std::string> bodies() {
    std::vector<std::string> bodies;
    for (const auto& request : server_.requests()) bodies.push_back(request.body);
    return bodies;
  }

  CapturedLog log_;
  ModelInfoPtr model_ = model_with({"open", "closed"});
  FakeWebhook server_;
  std::shared_ptr<WebhookCounters> counters_ = std::make_shared<WebhookCounters>();
  WebhookText text_;
  Frame frame_{};
  std::uint64_t frames_ = 0;
};

TEST_F(WebhookReporterTest, TellsOfChangesAlone) {
  auto reporter = make();
  Result result = change_to("open");
  result.state_changed = false;
  reporter->report(result, frame_);
  server_.answer({200, {}, {}});
  reporter->report(change_to("open"), frame_);
  server_.wait_for(1);
  server_.answer({200, {}, {}});
  reporter->report(change_to("unknown", "gate"), frame_);
  reporter.reset();
  EXPECT_THAT(bodies(), ElementsAre("front/: unknown, open 0.90", "front/gate: unknown, unknown "));
  EXPECT_THAT(log_.text(), HasSubstr("webhook: 2 messages sent, 0 not sent, 0 requests failed"));
}

TEST_F(WebhookReporterTest, NamesTheWatchThatHasAName) {
  text_.body.clear();
  auto reporter = make();
  server_.answer({200, {}, {}});
  reporter->report(change_to("open"), frame_);
  server_.wait_for(1);
  server_.answer({200, {}, {}});
  reporter->report(change_to("open", "gate"), frame_);
  reporter.reset();
  EXPECT_THAT(bodies(), ElementsAre("front: open", "front, gate: open"));
}

TEST_F(WebhookReporterTest, SaysNothingOfAModelThatIsMute) {
  WebhookReporterOptions options;
  options.mute_model = "selftest";
  options.open = [this](const WebhookConnection&) { return server_.open(); };
  auto reporter =
      std::make_unique<WebhookReporter>(parse_webhook(text_), std::move(options), counters_);
  ModelInfo mute = *model_;
  mute.name = "selftest";
  Result result = change_to("open");
  result.model = std::make_shared<const ModelInfo>(mute);
  reporter->report(result, frame_);
  server_.answer({200, {}, {}});
  reporter->report(change_to("closed"), frame_);
  reporter.reset();
  EXPECT_THAT(bodies(), ElementsAre("/: unknown, closed 0.90"));
}

TEST_F(WebhookReporterTest, TellsOfTheStatesThatAreAskedFor) {
  text_.states = {"open"};
  text_.body = "{state}";
  auto reporter = make();
  reporter->report(change_to("closed"), frame_);
  reporter->report(change_to("unknown"), frame_);
  server_.answer({200, {}, {}});
  reporter->report(change_to("open"), frame_);
  reporter.reset();
  EXPECT_THAT(bodies(), ElementsAre("open"));
  EXPECT_EQ(counters_->dropped, 0U);
}

TEST_F(WebhookReporterTest, TheTimeIsLocalWithItsOffset) {
  text_.body = "{time}";
  server_.answer({200, {}, {}});
  auto reporter = make();
  reporter->report(change_to("open"), frame_);
  reporter.reset();
  EXPECT_THAT(bodies(), ElementsAre(MatchesRegex(
                            "[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+[+-][0-9][0-9]:[0-9][0-9]")));
}

TEST_F(WebhookReporterTest, WatchesOfAFrameShareItsPicture) {
  text_.body.clear();
  text_.picture = "photo";
  fill(frame_, 7, {16, 16});
  auto reporter = make();
  const Result gate = change_to("open", "gate");
  Result door = change_to("open", "door");
  door.sequence = gate.sequence;
  server_.answer({200, {}, {}});
  server_.answer({200, {}, {}});
  reporter->report(gate, frame_);
  reporter->report(door, frame_);
  reporter.reset();
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 2U);
  for (const auto& request : requests) EXPECT_THAT(request.picture, StartsWith("\xff\xd8\xff"));
  EXPECT_EQ(requests[0].picture, requests[1].picture);
}

TEST_F(WebhookReporterTest, AServerThatDoesNotAnswerHoldsUpNothing) {
  auto reporter = make(milliseconds(0));
  for (int i = 0; i < 1000; ++i)
    reporter->report(change_to(i % 2 == 0 ? "open" : "closed"), frame_);
  server_.wait_for(1);
  reporter.reset();
  EXPECT_EQ(counters_->sent, 0U);
  EXPECT_EQ(counters_->dropped, 1000U);
}

TEST_F(WebhookReporterTest, TheEndDoesNotWaitForWhatFailed) {
  server_.answer({500, {}, {}});
  auto reporter = make();
  reporter->report(change_to("open"), frame_);
  server_.wait_for(1);
  reporter.reset();
  EXPECT_THAT(log_.text(), HasSubstr("webhook: 0 messages sent, 1 not sent, 1 request failed"));
}

TEST_F(WebhookReporterTest, ARunWithoutAChangeLogsNothing) {
  make().reset();
  EXPECT_EQ(log_.text(), "");
}

}  // namespace
}  // namespace lookout
