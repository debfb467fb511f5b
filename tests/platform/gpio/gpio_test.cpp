#include <fcntl.h>
#include <linux/gpio.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/gpio/gpio_reporter.h"
#include "tests/support/captured_log.h"
#include "tests/support/model_testing.h"
#include "tests/support/source_testing.h"
#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kChipFd = 1000;
constexpr int kLineFd = 1001;

// A chip with 54 lines, as that of a Raspberry Pi 4; line 3 is somebody else's.
class FakeChip {
 public:
  GpioCalls calls() {
    return {[this](const char* path) { return open(path); },
            [this](int fd, unsigned long request, void* argument) {
              return ioctl(fd, request, argument);
            },
            [this](int fd) { closed.push_back(fd); }};
  }

  int open_error = 0;
  int ioctl_error = 0;  // of all that follows
  gpio_v2_line_request request{};
  std::vector<bool> values;  // that the line was set to
  std::vector<int> closed;
  std::string path;

 private:
  static int fail(int error) {
    errno = error;
    return -1;
  }

  int open(const char* name) {
    path = name;
    return open_error == 0 ? kChipFd : fail(open_error);
  }

  int ioctl(int fd, unsigned long code, void* argument) {
    if (ioctl_error != 0) return fail(ioctl_error);
    EXPECT_EQ(fd, code == GPIO_V2_LINE_SET_VALUES_IOCTL ? kLineFd : kChipFd);
    switch (code) {
      case GPIO_GET_CHIPINFO_IOCTL: {
        auto& chip = *static_cast<gpiochip_info*>(argument);
        std::strcpy(chip.label, "pinctrl-bcm2711");
        chip.lines = 54;
        return 0;
      }
      case GPIO_V2_GET_LINEINFO_IOCTL: {
        auto& line = *static_cast<gpio_v2_line_info*>(argument);
        if (line.offset >= 54) return fail(EINVAL);
        std::strcpy(line.name, ("GPIO" + std::to_string(line.offset)).c_str());
        if (line.offset == 3) {
          line.flags = GPIO_V2_LINE_FLAG_USED;
          std::memset(line.consumer, 'x', sizeof line.consumer);  // not ended
        }
        return 0;
      }
      case GPIO_V2_GET_LINE_IOCTL:
        request = *static_cast<gpio_v2_line_request*>(argument);
        static_cast<gpio_v2_line_request*>(argument)->fd = kLineFd;
        return 0;
      case GPIO_V2_LINE_SET_VALUES_IOCTL: {
        const auto& set = *static_cast<gpio_v2_line_values*>(argument);
        EXPECT_EQ(set.mask, 1U);
        values.push_back(set.bits == 1);
        return 0;
      }
      default:
        ADD_FAILURE() << "ioctl " << code;
        return fail(ENOTTY);
    }
  }
};

class GpioTest : public testing::Test {
 protected:
  GpioTest() {
    options_.line.line = 17;
    options_.states = {"open", "ajar"};
  }

  std::unique_ptr<GpioReporter> make() {
    return std::make_unique<GpioReporter>(options_, chip_.calls());
  }
  void expect_refused(ErrorKind kind, const testing::Matcher<std::string>& sentence) {
    expect_error(kind, sentence, [this] { make(); });
    expect_error(kind, sentence, [this] { describe_gpio_line(options_.line, chip_.calls()); });
  }

  Result change_to(const std::string& label, const std::string& watch = "") const {
    Result result;
    result.model = model_;
    if (!watch.empty()) result.watch = std::make_shared<WatchInfo>(WatchInfo{watch, {}});
    result.state_changed = true;
    result.state.kind = SceneState::Kind::kUnknown;
    for (const std::string& known : model_->labels) {
      if (known == label) result.state = {SceneState::Kind::kClass, {0, known, 0.9F}, model_};
    }
    return result;
  }

  CapturedLog log_;
  FakeChip chip_;
  GpioReporterOptions options_;
  ModelInfoPtr model_ = model_with({"open", "ajar", "closed"});
  const Frame frame_{};
};

TEST_F(GpioTest, TheLineBecomesAnInactiveOutputOfOurs) {
  const auto reporter = make();
  EXPECT_EQ(chip_.path, "/dev/gpiochip0");
  EXPECT_EQ(chip_.request.offsets[0], 17U);
  EXPECT_EQ(chip_.request.num_lines, 1U);
  EXPECT_STREQ(chip_.request.consumer, "lookout");
  EXPECT_EQ(chip_.request.config.flags, GPIO_V2_LINE_FLAG_OUTPUT);
  ASSERT_EQ(chip_.request.config.num_attrs, 1U);
  EXPECT_EQ(chip_.request.config.attrs[0].attr.id, GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES);
  EXPECT_EQ(chip_.request.config.attrs[0].attr.values, 0U);
  EXPECT_THAT(chip_.closed, ElementsAre(kChipFd));
  EXPECT_THAT(chip_.values, IsEmpty());
}

TEST_F(GpioTest, TheKernelTurnsALineThatIsActiveLow) {
  options_.line.active_low = true;
  make();
  EXPECT_EQ(chip_.request.config.flags, GPIO_V2_LINE_FLAG_OUTPUT | GPIO_V2_LINE_FLAG_ACTIVE_LOW);
}

TEST_F(GpioTest, TheLineFollowsTheState) {
  auto reporter = make();
  Result same = change_to("open");
  same.state_changed = false;
  reporter->report(same, frame_);
  for (const char* label : {"closed", "open", "ajar", "unknown", "ajar", "closed"}) {
    reporter->report(change_to(label), frame_);
  }
  EXPECT_THAT(chip_.values, ElementsAre(true, false, true, false));
}

TEST_F(GpioTest, TheLineIsInactiveWithoutACameraAndAtTheEnd) {
  auto reporter = make();
  reporter->report(change_to("open"), frame_);
  reporter->status({false, {}});
  EXPECT_THAT(chip_.values, ElementsAre(true, false));
  reporter->status({true, {}});
  reporter->report(change_to("open"), frame_);
  reporter.reset();
  EXPECT_THAT(chip_.values, ElementsAre(true, false, true, false));
  EXPECT_THAT(chip_.closed, ElementsAre(kChipFd, kLineFd));
}

TEST_F(GpioTest, OfSeveralWatchesOneCounts) {
  options_.watch = "gate";
  auto reporter = make();
  reporter->report(change_to("open", "door"), frame_);
  EXPECT_THAT(chip_.values, IsEmpty());
  reporter->report(change_to("open", "gate"), frame_);
  reporter->report(change_to("closed", "door"), frame_);
  EXPECT_THAT(chip_.values, ElementsAre(true));
  reporter->watching({{std::make_shared<WatchInfo>(WatchInfo{"door", {}}), model_}});
  EXPECT_THAT(chip_.values, ElementsAre(true, false));
}

TEST_F(GpioTest, WatchesOfWhichNoneIsNamedAreAWarning) {
  make()->watching({{std::make_shared<WatchInfo>(WatchInfo{"door", {}}), model_}});
  EXPECT_THAT(log_.text(), HasSubstr("gpio.watch does not say whose state counts"));
}

TEST_F(GpioTest, ALabelThatTheModelLacksIsAWarning) {
  options_.states = {"open", "opne"};
  make()->watching({{nullptr, model_}});
  EXPECT_THAT(log_.text(), HasSubstr("gpio.states: the model net has no label opne"));
}

TEST_F(GpioTest, ALineThatCannotBeSetIsLoggedOnce) {
  auto reporter = make();
  chip_.ioctl_error = ENODEV;
  reporter->report(change_to("open"), frame_);
  reporter->report(change_to("open"), frame_);
  const std::string log = log_.text();
  EXPECT_THAT(log, HasSubstr("gpio: line 17 of /dev/gpiochip0 cannot be set: No such device"));
  EXPECT_EQ(log.find("gpio:"), log.rfind("gpio:"));
  chip_.ioctl_error = 0;
  reporter->report(change_to("open"), frame_);
  EXPECT_THAT(chip_.values, ElementsAre(true));
}

TEST_F(GpioTest, ALineThatCannotBeSetIsTriedAgainWithGrowingDelays) {
  options_.counters = std::make_shared<GpioCounters>();
  Clock::time_point now{};
  int tried = 0;
  GpioCalls calls = chip_.calls();
  GpioReporter reporter(options_,
                        {calls.open,
                         [&](int fd, unsigned long request, void* argument) {
                           if (request == GPIO_V2_LINE_SET_VALUES_IOCTL) ++tried;
                           return calls.ioctl(fd, request, argument);
                         },
                         calls.close},
                        [&now] { return now; });
  const auto wait = [&](std::chrono::seconds time) {
    for (const auto end = now + time; now < end;) {
      now += std::chrono::seconds(1);
      reporter.poll();
    }
  };
  wait(std::chrono::seconds(5));
  EXPECT_EQ(tried, 0);
  chip_.ioctl_error = EREMOTEIO;
  reporter.report(change_to("open"), frame_);
  EXPECT_TRUE(options_.counters->pending);
  wait(std::chrono::seconds(7));  // after 1, 3 and 7 s
  EXPECT_EQ(tried, 4);
  wait(std::chrono::hours(1));
  EXPECT_LE(tried, 70);
  EXPECT_EQ(options_.counters->failed, tried);
  chip_.ioctl_error = 0;
  wait(GpioReporter::kMaxDelay);
  EXPECT_THAT(chip_.values, ElementsAre(true));
  EXPECT_EQ(options_.counters->changes, 1);
  EXPECT_TRUE(options_.counters->active);
  EXPECT_FALSE(options_.counters->pending);
  const int before = tried;
  wait(std::chrono::hours(1));
  EXPECT_EQ(tried, before);
}

TEST_F(GpioTest, AStateThatChangedBackNeedsNoOtherAttempt) {
  options_.counters = std::make_shared<GpioCounters>();
  Clock::time_point now{};
  GpioReporter reporter(options_, chip_.calls(), [&now] { return now; });
  chip_.ioctl_error = EREMOTEIO;
  reporter.report(change_to("open"), frame_);
  reporter.report(change_to("closed"), frame_);
  EXPECT_FALSE(options_.counters->pending);
  chip_.ioctl_error = 0;
  now += std::chrono::hours(1);
  reporter.poll();
  EXPECT_THAT(chip_.values, IsEmpty());
}

TEST_F(GpioTest, ALineThatFailsAgainAfterItWasWellIsLoggedAgain) {
  options_.states = {"open", "opne"};
  auto reporter = make();
  reporter->watching({{nullptr, model_}});
  const auto change = [&](int error) {
    chip_.ioctl_error = error;
    reporter->report(change_to(chip_.values.size() % 2 == 0 ? "open" : "closed"), frame_);
  };
  change(EREMOTEIO);
  for (int i = 0; i < 6; ++i) change(0);
  const std::string log = log_.text();
  EXPECT_THAT(log, HasSubstr("gpio: line 17 of /dev/gpiochip0 can be set again; 1 failed"));
  EXPECT_EQ(log.find("set again"), log.rfind("set again"));
  change(EREMOTEIO);
  EXPECT_NE(log_.text().find("cannot be set"), log_.text().rfind("cannot be set"));
}

TEST_F(GpioTest, DescribesTheLine) {
  EXPECT_EQ(describe_gpio_line(options_.line, chip_.calls()),
            "line 17 (GPIO17) of /dev/gpiochip0 (pinctrl-bcm2711)");
}

TEST_F(GpioTest, WhatCannotBeUsedIsOneSentence) {
  chip_.open_error = ENOENT;
  expect_refused(ErrorKind::kNoInput,
                 HasSubstr("gpio.chip /dev/gpiochip0 cannot be opened: No such"));
  chip_.open_error = EACCES;
  expect_refused(
      ErrorKind::kPermission,
      AllOf(HasSubstr("no permission to open gpio.chip /dev/gpiochip0"), HasSubstr("gpio")));
  chip_.open_error = 0;
  options_.line.line = 54;
  expect_refused(ErrorKind::kConfig,
                 HasSubstr("gpio.line 54: /dev/gpiochip0 has the lines 0 to 53"));
  options_.line.line = 3;
  expect_refused(ErrorKind::kDeviceLost, HasSubstr("gpio.line 3 of /dev/gpiochip0 is in use by \"" +
                                                   std::string(GPIO_MAX_NAME_SIZE, 'x') + "\""));
  chip_.ioctl_error = ENOTTY;
  expect_refused(ErrorKind::kConfig, HasSubstr("is no GPIO chip"));
}

TEST_F(GpioTest, AFileIsNoChip) {
  const TempDir directory;
  options_.line.chip = directory.write("file", "");
  expect_error(ErrorKind::kConfig, HasSubstr("is no GPIO chip"),
               [this] { describe_gpio_line(options_.line); });
  options_.line.chip = directory / "missing";
  expect_error(ErrorKind::kNoInput, HasSubstr("cannot be opened"),
               [this] { describe_gpio_line(options_.line); });
}

}  // namespace
}  // namespace lookout
