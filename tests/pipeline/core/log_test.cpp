#include "pipeline/core/log.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/captured_log.h"

namespace lookout {
namespace {

TEST(Log, FormatsTheArguments) {
  const CapturedLog log;
  log_warn("{} of {}: {:.1f} %", 1, std::string("two"), 50.0);
  log_at(LogLevel::kInfo, "{{}} {}", "{}");
  EXPECT_NE(log.text().find("1 of two: 50.0 %"), std::string::npos) << log.text();
  EXPECT_NE(log.text().find("{} {}"), std::string::npos) << log.text();
}

TEST(Log, LinesBelowTheLevelAreNotFormatted) {
  const CapturedLog log;
  EXPECT_FALSE(is_logged(LogLevel::kDebug));
  EXPECT_TRUE(is_logged(LogLevel::kInfo));
  log_debug("{:d}", "not a number");
  EXPECT_EQ(log.text(), "");
}

TEST(Log, AWrongFormatIsAnErrorInTheLog) {
  const CapturedLog log;
  EXPECT_NO_THROW(log_info("{:d}", "not a number"));
  EXPECT_NE(log.text(), "");
}

}  // namespace
}  // namespace lookout
