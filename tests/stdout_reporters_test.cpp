#include "platform/stdout_reporters.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/source_testing.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReportersTest : public testing::Test {
 protected:
  ~ReportersTest() override {
    for (const int end : ends_) close(end);
  }
  // What was written since the last call.
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
  Output output_{ends_[1], "out", Output::WhenFull::kDrop, stop_};
  CameraStatus offline_{false, std::chrono::system_clock::now()};
  CameraStatus online_{true, std::chrono::system_clock::now()};
};

TEST_F(ReportersTest, JsonHasALineForEachChangeOfTheCamera) {
  JsonReporter reporter(output_, JsonFormat("front", "m", {"a"}));
  reporter.status(offline_);
  EXPECT_THAT(written(), HasSubstr(R"("type":"status","camera":"front","state":"offline")"));
  reporter.status(online_);
  EXPECT_THAT(written(), HasSubstr(R"("state":"online")"));
}

TEST_F(ReportersTest, TheDisplayShowsThatTheCameraIsAway) {
  Terminal terminal(ends_[1], output_);
  TerminalReporter reporter(terminal, "front", 3);
  reporter.status(offline_);
  EXPECT_THAT(written(), HasSubstr("offline for 0 s, waiting for the camera"));
  Result result;
  result.top = {{0, "old", 1}};
  reporter.report(result, {});
  EXPECT_EQ(written(), "") << "a frame from before the loss";
  reporter.tick({});
  EXPECT_THAT(written(), HasSubstr("offline for "));
  reporter.status(online_);
  reporter.report(result, {});
  EXPECT_THAT(written(), AllOf(HasSubstr("old"), Not(HasSubstr("offline"))));
}

TEST_F(ReportersTest, TheLogsStatisticsSayThatTheCameraIsAway) {
  const CapturedLog log;
  LogReporter reporter;
  reporter.tick({});
  EXPECT_THAT(log.text(), Not(HasSubstr("offline")));
  reporter.status(offline_);
  reporter.tick({});
  EXPECT_THAT(log.text(), HasSubstr("camera offline; camera 0.0 fps"));
}

}  // namespace
}  // namespace lookout
