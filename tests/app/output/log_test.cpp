#include "app/output/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/core/log.h"
#include "tests/support/captured_log.h"

namespace lookout {
namespace {

// main() calls set_up_log() before any sub-command runs.
TEST(Log, AWarningGoesToStderrAndNotBetweenTheData) {
  const CapturedLog logger_of_before;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  set_up_log();
  log_warn("this is odd");
  flush_log();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("this is odd"));
}

}  // namespace
}  // namespace lookout
