#include "app/run/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "pipeline/log.h"

namespace lookout {
namespace {

// main() calls set_up_log() before any sub-command runs.
TEST(Log, AWarningGoesToStderrAndNotBetweenTheData) {
  const auto before = spdlog::default_logger();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  set_up_log();
  log_warn("this is odd");
  spdlog::default_logger()->flush();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("this is odd"));
  spdlog::set_default_logger(before);
}

}  // namespace
}  // namespace lookout
