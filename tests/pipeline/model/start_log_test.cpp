#include "pipeline/model/start_log.h"

#include <gtest/gtest.h>

#include "tests/support/captured_log.h"

namespace lookout {
namespace {

TEST(StartLog, TellsTheStepsThatTakeLong) {
  const CapturedLog captured;
  StartLog log("vit", "is being loaded", Clock::duration(0));
  captured.wait_for("model vit: its start takes long; it is being loaded");
  log.begin("is run");
  captured.wait_for("model vit: its start takes long; it is run");
}

TEST(StartLog, IsSilentWhenTheStartIsShort) {
  const CapturedLog captured;
  {
    StartLog log("vit", "is being loaded", std::chrono::hours(1));
    log.begin("is run");
  }
  EXPECT_EQ(captured.text(), "");
}

}  // namespace
}  // namespace lookout
