#include "platform/mqtt/mqtt_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/platform/mqtt/mqtt_testing.h"
#include "tests/support/captured_log.h"

namespace lookout {
namespace {

using std::chrono::seconds;

class MqttSwitchTest : public testing::Test {
 protected:
  void command(bool enabled) { switch_.command(enabled, clock_.now()); }
  bool pass(Clock::duration time) {
    clock_.advance(time);
    return switch_.advance(clock_.now());
  }
  long lines() const {
    const std::string text = log_.text();
    return std::count(text.begin(), text.end(), '\n');
  }

  const CapturedLog log_;
  TestClock clock_;
  std::vector<bool> asked_;
  MqttSwitch switch_{[this](bool enabled) { asked_.push_back(enabled); }};
};

TEST_F(MqttSwitchTest, TheNewestCommandCountsOnceASecond) {
  command(false);
  EXPECT_TRUE(pass({}));
  EXPECT_FALSE(switch_.enabled());
  command(true);
  EXPECT_EQ(switch_.next_due() - clock_.now(), MqttSwitch::kBetween);
  EXPECT_FALSE(pass(std::chrono::milliseconds(999)));
  command(false);
  EXPECT_TRUE(pass(std::chrono::milliseconds(1)));
  EXPECT_EQ(asked_, (std::vector<bool>{false, false}));
  EXPECT_EQ(lines(), 1);
  EXPECT_EQ(switch_.next_due(), Clock::time_point::max());
}

TEST_F(MqttSwitchTest, AnAutomationThatNeverRestsDoesNotFillTheLog) {
  for (int i = 0; i < 3600; ++i) {
    command(i % 2 != 0);
    pass(seconds(1));
  }
  EXPECT_EQ(asked_.size(), 3600U);
  EXPECT_EQ(lines(), MqttSwitch::kLines + 1);
  EXPECT_NE(log_.text().find("again and again"), std::string::npos);
  clock_.advance(MqttSwitch::kRest);
  command(false);
  pass(seconds(1));
  EXPECT_EQ(lines(), MqttSwitch::kLines + 2);
}

TEST_F(MqttSwitchTest, ASourceThatCannotBePausedIsNotSwitched) {
  MqttSwitch none{{}};
  none.command(false, clock_.now());
  EXPECT_FALSE(none.advance(clock_.now()));
  EXPECT_TRUE(none.enabled());
}

}  // namespace
}  // namespace lookout
