#include "pipeline/model/frozen_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <opencv2/core.hpp>

namespace lookout {
namespace {

using namespace std::chrono_literals;

class FrozenWatchTest : public ::testing::TestWithParam<CameraPicture::Kind> {
 protected:
  FrozenWatchTest() {
    frame_.picture.begin(GetParam(), nullptr);
    if (GetParam() == CameraPicture::Kind::kNone) {
      frame_.bgr = cv::Mat(480, 640, CV_8UC3, cv::Scalar(90, 120, 40));
    } else {
      const bool jpeg = GetParam() == CameraPicture::Kind::kJpeg;
      frame_.picture.bytes.assign(jpeg ? 40'000 : 640 * 480 * 2, 90);
    }
  }

  // Shows the frame from now on, for a time. How often it was found frozen.
  int show(std::chrono::milliseconds time) {
    int frozen = 0;
    for (const auto end = frame_.captured + time; frame_.captured < end; frame_.captured += 40ms) {
      frozen += watch_.is_frozen(frame_, blocks_) ? 1 : 0;
    }
    return frozen;
  }

  void change_pixels() {
    if (GetParam() == CameraPicture::Kind::kNone) {
      cv::randu(frame_.bgr, 80, 90);
    } else {
      cv::randu(frame_.picture.bytes, 80, 90);
    }
  }

  Frame frame_;
  LumaBlocks blocks_{{10 * LumaBlocks::kUnit, 90 * LumaBlocks::kUnit}, {2}};
  FrozenWatch watch_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, FrozenWatchTest,
                         ::testing::Values(CameraPicture::Kind::kNone, CameraPicture::Kind::kRaw,
                                           CameraPicture::Kind::kJpeg));

TEST_P(FrozenWatchTest, TellsOnceThatFramesHaveBeenEqualForTenSeconds) {
  EXPECT_EQ(show(10s), 0);
  EXPECT_EQ(show(60s), 1);
}

TEST_P(FrozenWatchTest, TellsAgainAfterAnotherFrameCame) {
  EXPECT_EQ(show(11s), 1);
  change_pixels();
  EXPECT_EQ(show(10s), 0);
  EXPECT_EQ(show(10s), 1);
}

TEST_P(FrozenWatchTest, IsQuietWhileThereIsNoise) {
  for (int i = 0; i < 100; ++i) {
    change_pixels();
    EXPECT_EQ(show(9s), 0);
  }
}

TEST_P(FrozenWatchTest, SeesAChangeInTheBlocksAlone) {
  EXPECT_EQ(show(9s), 0);
  ++blocks_.means[0];
  EXPECT_EQ(show(9s), 0);
}

TEST_P(FrozenWatchTest, IsQuietInTheDark) {
  blocks_.means = {16 * LumaBlocks::kUnit, 17 * LumaBlocks::kUnit};
  EXPECT_EQ(show(60s), 0);
}

TEST_P(FrozenWatchTest, StartsAgainWhenTheCameraWasOpenedAgain) {
  EXPECT_EQ(show(9s), 0);
  watch_.forget();
  EXPECT_EQ(show(10s), 0);
  EXPECT_EQ(show(1s), 1);
}

TEST_P(FrozenWatchTest, IsQuietWhenACameraGoesOnWithItsFrameAfterItWasOpenedAgain) {
  EXPECT_EQ(show(11s), 1);
  watch_.forget();
  EXPECT_EQ(show(60s), 0);
  change_pixels();
  EXPECT_EQ(show(11s), 1);
}

}  // namespace
}  // namespace lookout
