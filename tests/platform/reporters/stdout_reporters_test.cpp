#include "platform/reporters/stdout_reporters.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/results/statistics.h"
#include "tests/support/model_testing.h"
#include "tests/support/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const ModelInfoPtr kModel = model_with({"a", "b", "c"});

class ReportersTest : public testing::Test {
 protected:
  ~ReportersTest() override {
    for (const int end : ends_) close(end);
  }
  // The text that was written since the last call.
  std::string written() const {
    std::string text(1 << 16, '\0');
    const ssize_t bytes = read(ends_[0], text.data(), text.size());
    text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return text;
  }

  static std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    return ends;
  }

  std::array<int, 2> ends_ = make_pipe();
  std::atomic<bool> stop_{false};
  NonBlockingWriter output_{ends_[1], "out", NonBlockingWriter::WhenFull::kDrop, stop_};
  CameraStatus offline_{false, std::chrono::system_clock::now()};
  CameraStatus online_{true, std::chrono::system_clock::now()};
};

TEST_F(ReportersTest, JsonHasALineForEachChangeOfTheCamera) {
  JsonReporter reporter(output_, JsonFormat({"front"}));
  reporter.watching({{nullptr, kModel}});
  reporter.status(offline_);
  EXPECT_THAT(written(), HasSubstr(R"("type":"status","camera":"front","state":"offline")"));
  reporter.status(online_);
  EXPECT_THAT(written(), HasSubstr(R"("state":"online")"));
}

TEST_F(ReportersTest, JsonHasALineForEachChangeOfTheState) {
  JsonReporter reporter(output_, JsonFormat({"front"}));
  reporter.watching({{nullptr, kModel}});
  Result result;
  result.model = kModel;
  result.state = {SceneState::Kind::kUnknown, {}};
  result.state_changed = true;
  reporter.report(result, {});
  EXPECT_THAT(written(), AllOf(HasSubstr(R"("type":"state")"), HasSubstr(R"("state":"unknown")"),
                               HasSubstr(R"("type":"classification")")));
  result.state_changed = false;
  reporter.report(result, {});
  EXPECT_THAT(written(), Not(HasSubstr(R"("type":"state")")));
}

TEST_F(ReportersTest, ASlowReaderGetsTheLatestChangeOfTheStateLater) {
  JsonReporter reporter(output_, JsonFormat({"front"}));
  reporter.watching({{nullptr, kModel}});
  const std::string filling(4096, '.');
  while (output_.write(filling)) {
  }
  Result result;
  result.model = kModel;
  result.state_changed = true;
  result.state = {SceneState::Kind::kClass, {0, "a", 1}};
  reporter.report(result, {});
  result.state = {SceneState::Kind::kUnknown, {}};
  reporter.report(result, {});
  while (!written().empty()) {
  }
  reporter.tick({});
  const std::string later = written();
  EXPECT_THAT(later, AllOf(HasSubstr(R"("state":"unknown")"), HasSubstr(R"("type":"stats")")));
  EXPECT_THAT(later, Not(HasSubstr(R"("state":"a")")));
  reporter.tick({});
  EXPECT_THAT(written(), Not(HasSubstr(R"("type":"state")")));
}

TEST_F(ReportersTest, TextSaysTheStateWhereItIsAskedTo) {
  Result result;
  result.top = {{0, "dog", 0.9F}};
  result.state = {SceneState::Kind::kClass, {1, "cat", 0.6F}};
  TextReporter(output_).report(result, {});
  EXPECT_THAT(written(), Not(HasSubstr("cat")));
  TextReporter(output_, /*states=*/true).report(result, {});
  EXPECT_THAT(written(), HasSubstr("dog 90.0 % (0.0 ms), state cat 60.0 %\n"));
  Terminal terminal(ends_[1], output_);
  TerminalReporter display(terminal, {"front", "a test"}, 3, /*states=*/true);
  display.watching({{nullptr, kModel}});
  display.report(result, {});
  EXPECT_THAT(written(), HasSubstr("state cat 60.0 %"));
}

TEST_F(ReportersTest, TextMayBeLimitedToTheBestPrediction) {
  Result result;
  result.top = {{0, "dog", 0.9F}, {1, "cat", 0.1F}};
  TextReporter(output_, /*states=*/false, 1).report(result, {});
  EXPECT_EQ(written(), "0: dog 90.0 % (0.0 ms)\n");
}

// A terminal of so many columns and rows. The caller closes it.
int open_terminal(unsigned short columns, unsigned short rows = 24) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  winsize size{rows, columns, 0, 0};
  EXPECT_EQ(grantpt(terminal), 0);
  EXPECT_EQ(unlockpt(terminal), 0);
  EXPECT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
  return terminal;
}

TEST_F(ReportersTest, ANarrowTerminalShowsTheLabelInsteadOfTheBar) {
  const int terminal_end = open_terminal(20);
  Terminal terminal(terminal_end, output_);
  TerminalReporter display(terminal, {"front", "a test"}, 1);
  display.watching({{nullptr, kModel}});
  Result result;
  result.top = {{0, "cat", 0.97F}};
  display.report(result, {});
  EXPECT_THAT(written(), HasSubstr("\n  1  97.0 % cat\x1b[K\n"));
  close(terminal_end);
}

// A list of watches with these names, and kModel each.
WatchList watches_of(const std::vector<std::string>& names) {
  WatchList watches;
  for (const std::string& name : names) {
    watches.push_back({std::make_shared<WatchInfo>(WatchInfo{name, {0, 0, 1, 1}}), kModel});
  }
  return watches;
}

Result result_of(const Watching& watching, const char* label, float score) {
  Result result;
  result.watch = watching.watch;
  result.model = watching.model;
  result.top = {{0, label, score}, {1, "other", 1 - score}};
  result.state = {SceneState::Kind::kClass, result.top.front(), watching.model};
  return result;
}

TEST_F(ReportersTest, TheDisplayHasABlockForEachWatch) {
  const int terminal_end = open_terminal(40);
  Terminal terminal(terminal_end, output_);
  TerminalReporter display(terminal, {"front", "a test"}, 3);
  const WatchList watches = {
      {std::make_shared<WatchInfo>(WatchInfo{"gate", {0, 0, 1, 1}, "Front gate"}), kModel},
      watches_of({"lamp"}).front()};
  display.watching(watches);
  display.report(result_of(watches[0], "open", 0.97F), {});
  EXPECT_THAT(written(), HasSubstr("front (a test)\x1b[K\ndropped 0\x1b[K\nframe 0\x1b[K\n"
                                   "Front gate: open 97.0 %  latency 0.0 ms \n"
                                   "     97.0 % open\x1b[K\n"
                                   "lamp: no result yet\x1b[K\n\x1b[K\n"));
  Result lamp = result_of(watches[1], "off", 0.8F);
  lamp.state = {SceneState::Kind::kUnknown, {}};
  display.report(lamp, {});  // too early to be drawn
  EXPECT_EQ(written(), "");
  StatsSnapshot stats;
  stats.final = true;
  display.tick(stats);
  EXPECT_THAT(written(), AllOf(HasSubstr("lamp: unknown  latency"), HasSubstr("     80.0 % off"),
                               Not(HasSubstr("open"))))
      << "the first block is the same";
  close(terminal_end);
}

TEST_F(ReportersTest, ALowTerminalShowsEachWatchOnALineOfItsOwn) {
  const int terminal_end = open_terminal(80, 8);
  Terminal terminal(terminal_end, output_);
  TerminalReporter display(terminal, {"front", "a test"}, 3);
  const WatchList watches = watches_of({"a", "b", "c"});
  display.watching(watches);
  display.report(result_of(watches[1], "open", 0.97F), {});
  EXPECT_THAT(written(), HasSubstr("a: no result yet\x1b[K\nb: open 97.0 %  latency 0.0 ms  since "
                                   "capture 0.0 ms\x1b[K\nc: no result yet\x1b[K\n\x1b[?2026l"));
  close(terminal_end);
}

TEST_F(ReportersTest, TheDisplayFollowsTheListOfWatches) {
  Terminal terminal(ends_[1], output_);
  TerminalReporter display(terminal, {"front", "a test"}, 3);
  const WatchList watches = watches_of({"gate", "lamp"});
  display.watching(watches);
  display.report(result_of(watches[0], "open", 0.97F), {});
  display.report(result_of(watches[1], "lit", 0.97F), {});
  written();
  StatsSnapshot stats;
  stats.final = true;
  const WatchList others = {watches[1], watches_of({"box"}).front()};
  display.watching(others);
  display.report(result_of(watches[0], "open", 0.97F), {});
  display.tick(stats);
  EXPECT_THAT(written(), AllOf(HasSubstr("lamp: lit 97.0 %"), HasSubstr("box: no result yet"),
                               Not(HasSubstr("gate"))));
  display.watching({others[1]});
  display.tick(stats);
  EXPECT_THAT(written(), AllOf(HasSubstr("box: no result yet"), HasSubstr("\x1b[J")));
}

TEST_F(ReportersTest, WatchesHaveNoStateFromBeforeALossOfTheCamera) {
  Terminal terminal(ends_[1], output_);
  TerminalReporter display(terminal, {"front", "a test"}, 3);
  const WatchList watches = watches_of({"gate", "lamp"});
  display.watching(watches);
  display.report(result_of(watches[0], "open", 0.97F), {});
  display.report(result_of(watches[1], "lit", 0.97F), {});
  display.status(offline_);
  display.status(online_);
  written();
  display.report(result_of(watches[0], "shut", 0.97F), {});
  StatsSnapshot stats;
  stats.final = true;
  display.tick(stats);
  EXPECT_THAT(written(), AllOf(HasSubstr("gate: shut"), HasSubstr("lamp: no result yet")));
}

TEST_F(ReportersTest, WhatTheDisplayShowsIsLoggedForDebuggingOnly) {
  const CapturedLog log;
  StatsSnapshot stats;
  LogReporter beside_a_display({true, true, ends_[1]});  // of the usual size
  beside_a_display.tick(stats);
  EXPECT_EQ(log.text(), "");
  stats.final = true;
  stats.captured = 1;
  beside_a_display.tick(stats);
  EXPECT_THAT(log.text(), HasSubstr("summary of 0.0 s: camera 0.0 fps, classified 0.0 fps\n"));
  EXPECT_THAT(log.text(), HasSubstr("inference        0.0       0.0       0.0       0.0\n"));
}

TEST_F(ReportersTest, TheSummaryFitsANarrowTerminal) {
  const CapturedLog log;
  const int terminal_end = open_terminal(40);
  StatsSnapshot stats;
  stats.final = true;
  stats.captured = 1;
  LogReporter({true, true, terminal_end}).tick(stats);
  EXPECT_THAT(log.text(), HasSubstr("summary of 0.0 s:\n"));
  EXPECT_THAT(log.text(), HasSubstr("inference      0.0     0.0\n"));
  close(terminal_end);
}

TEST_F(ReportersTest, TheDisplayHasATitleAndARateAboveTheFrame) {
  Terminal terminal(ends_[1], output_);
  TerminalReporter reporter(terminal, {"front", "a test"}, 1);
  reporter.watching({{nullptr, kModel}});
  reporter.report({}, {});
  EXPECT_THAT(written(),
              AllOf(HasSubstr("front: net (a test)\x1b[K\nlatency 0.0 ms  since capture 0.0 ms"),
                    HasSubstr("dropped 0\x1b[K\nframe 0\x1b[K\n"), Not(HasSubstr("fps"))))
      << "no rate is known in the first interval";
  StatsSnapshot stats;
  stats.classified_fps = 18;
  stats.camera_fps = 30;
  stats.final = true;
  Result last;
  last.sequence = 7;
  reporter.report(last, {});  // too early to be drawn
  EXPECT_EQ(written(), "");
  reporter.tick(stats);
  EXPECT_THAT(written(), AllOf(HasSubstr("18.0 fps (camera 30.0)"), HasSubstr("frame 7")));
}

TEST_F(ReportersTest, TheDisplayLeavesOutWhatIsNearlyImpossible) {
  Terminal terminal(ends_[1], output_);
  TerminalReporter reporter(terminal, {"front", "a test"}, 3);
  reporter.watching({{nullptr, kModel}});
  Result result;
  result.top = {{0, "cat", 0.99F}, {1, "dog", 0.006F}, {2, "cow", 0.004F}};
  reporter.report(result, {});
  EXPECT_THAT(written(), AllOf(HasSubstr("cat"), HasSubstr("dog"), Not(HasSubstr("cow"))));
}

TEST_F(ReportersTest, APictureIsShownWithBarsAndWithoutStatistics) {
  const int terminal_end = open_terminal(120);
  Result result;
  result.top = {{0, "cat", 0.5F}, {1, "a\nb", 0.25F}, {2, "cow", 0.001F}};
  Frame frame;
  frame.origin = "a/b.jpg";
  PictureReporter(output_, terminal_end, /*states=*/false).report(result, frame);
  std::string half;
  for (int i = 0; i < 40; ++i) half += i < 20 ? "█" : "·";
  const std::string text = written();
  EXPECT_EQ(text.substr(0, text.find("  2 ")), "a/b.jpg\n  1 " + half + "  50.0 %  cat\n");
  EXPECT_THAT(text, AllOf(HasSubstr(" 25.0 %  a\\nb\n"), Not(HasSubstr("cow"))));
  const CapturedLog log;
  StatsSnapshot stats;
  stats.final = true;
  stats.captured = 1;
  LogReporter({false, /*summary=*/false, std::nullopt}).tick(stats);
  EXPECT_EQ(log.text(), "");
  close(terminal_end);
}

TEST_F(ReportersTest, ARunWithoutAFrameHasNoTableOfZeros) {
  const CapturedLog log;
  StatsSnapshot stats;
  stats.final = true;
  stats.interval = std::chrono::seconds(2);
  LogReporter({false, true, ends_[1]}).tick(stats);
  EXPECT_THAT(log.text(), AllOf(HasSubstr("no frame came in 2.0 s"), Not(HasSubstr("summary"))));
}

TEST_F(ReportersTest, TheDisplayShowsThatTheCameraIsAway) {
  Terminal terminal(ends_[1], output_);
  TerminalReporter reporter(terminal, {"front", "a test"}, 3);
  reporter.watching({{nullptr, kModel}});
  reporter.status(offline_);
  EXPECT_THAT(written(), HasSubstr("offline for 0 s, waiting for the camera"));
  Result result;
  result.top = {{0, "old", 1}};
  reporter.report(result, {});
  EXPECT_EQ(written(), "") << "a frame from before the loss";
  offline_.since -= std::chrono::seconds(60);
  reporter.status(offline_);
  EXPECT_THAT(written(), HasSubstr("offline for 60 s"));
  reporter.tick({});
  EXPECT_EQ(written(), "") << "nothing changed";
  reporter.status(online_);
  reporter.report(result, {});
  EXPECT_THAT(written(), AllOf(HasSubstr("old"), Not(HasSubstr("offline"))));
}

TEST_F(ReportersTest, TheLogSaysOnceThatTheCameraIsAwayAndHasStatisticsWhenItIsBack) {
  const CapturedLog log;
  LogReporter reporter;
  reporter.tick({});
  EXPECT_THAT(log.text(), Not(HasSubstr("away")));
  reporter.status(offline_);
  reporter.tick({});
  EXPECT_THAT(log.text(), ContainsRegex("camera away since [0-9-]+ [0-9:]+; camera 0.0 fps"));
  const std::string once = log.text();
  for (int minute = 0; minute < 60; ++minute) reporter.tick({});
  EXPECT_EQ(log.text(), once);
  reporter.status(online_);
  reporter.tick({});
  EXPECT_GT(log.text().size(), once.size());
  EXPECT_EQ(log.text().find("away"), log.text().rfind("away"));
  reporter.status(offline_);
  reporter.tick({});
  EXPECT_NE(log.text().find("away"), log.text().rfind("away"));
  StatsSnapshot summary;
  summary.final = true;
  summary.captured = 1;
  reporter.tick(summary);
  EXPECT_THAT(log.text(), HasSubstr("camera offline; summary"));
}

}  // namespace
}  // namespace lookout
