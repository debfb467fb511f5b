#include "platform/http/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace lookout {
namespace {

using std::chrono::seconds;

const Clock::time_point kBegin{std::chrono::hours(1)};

TEST(RefusalLog, AnAddressIsNamedOnceHoweverOftenItIsRefused) {
  RefusalLog log;
  EXPECT_TRUE(log.refuse("a", kBegin));
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(log.refuse("a", kBegin + i * seconds(1)));
  EXPECT_TRUE(log.refuse("b", kBegin));
}

TEST(RefusalLog, AnAddressThatIsLetInAgainIsNamedOnceMore) {
  RefusalLog log;
  EXPECT_FALSE(log.let_in("a")) << "it was never refused";
  log.refuse("a", kBegin);
  EXPECT_TRUE(log.let_in("a"));
  EXPECT_FALSE(log.let_in("a"));
  EXPECT_FALSE(log.refuse("a", kBegin + seconds(6)));
  EXPECT_FALSE(log.let_in("a")) << "who knows the token cannot fill the log with it";
}

TEST(RefusalLog, AfterAMinuteWithoutARefusalItBeginsAnew) {
  RefusalLog log;
  log.refuse("a", kBegin);
  EXPECT_FALSE(log.refuse("a", kBegin + seconds(59)));
  EXPECT_TRUE(log.refuse("a", kBegin + seconds(59) + RefusalLog::kForget));
  EXPECT_TRUE(log.let_in("a"));
}

TEST(RefusalLog, ManyAddressesGetFewLinesAndLittleMemory) {
  RefusalLog log;
  int lines = 0;
  for (std::size_t i = 0; i < 3 * RefusalLog::kMaxAddresses; ++i) {
    if (log.refuse(std::to_string(i), kBegin)) ++lines;
  }
  EXPECT_EQ(lines, RefusalLog::kLines);
  EXPECT_FALSE(log.let_in("0")) << "the one refused first is forgotten";
  EXPECT_FALSE(log.let_in(std::to_string(3 * RefusalLog::kMaxAddresses - 1))) << "it has no line";
}

TEST(RefusalLog, AnAddressThatFoundNoLineGetsOneLater) {
  RefusalLog log;
  for (int i = 0; i < RefusalLog::kLines; ++i) log.refuse(std::to_string(i), kBegin);
  EXPECT_FALSE(log.refuse("a", kBegin));
  EXPECT_TRUE(log.refuse("a", kBegin + RefusalLog::kPause));
  EXPECT_FALSE(log.refuse("b", kBegin + RefusalLog::kPause));
}

}  // namespace
}  // namespace lookout
