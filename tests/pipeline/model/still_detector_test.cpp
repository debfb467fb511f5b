#include "pipeline/model/still_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <opencv2/core.hpp>

namespace lookout {
namespace {

constexpr int kSecond = 30;  // frames
constexpr std::size_t kRows = 30;
constexpr std::size_t kColumns = 30;

// Levels of the block in a row and a column.
using Luma = std::function<double(std::size_t row, std::size_t column)>;

double scenery(std::size_t row, std::size_t column) {
  return 40 + 4 * static_cast<double>(column) + static_cast<double>(row * 7 % 31);
}

// A camera whose blocks have noise, and a run that classifies what is not still.
class StillScene : public ::testing::Test {
 protected:
  LumaBlocks picture(const Luma& luma) {
    LumaBlocks blocks;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        const double level = luma(row, column) + random_.gaussian(noise_);
        blocks.means.push_back(cv::saturate_cast<std::uint16_t>(level * LumaBlocks::kUnit));
      }
      blocks.row_ends.push_back(blocks.means.size());
    }
    return blocks;
  }

  // Whether it was reused.
  bool see(const Luma& luma) {
    const LumaBlocks blocks = picture(luma);
    if (detector_.is_still(blocks)) return true;
    detector_.classified(blocks);
    return false;
  }

  // How many of them were reused.
  int see(const Luma& luma, int frames) {
    int reused = 0;
    for (int i = 0; i < frames; ++i) reused += see(luma) ? 1 : 0;
    return reused;
  }

  // The scenery with `levels` more in some blocks.
  static Luma with_object(std::size_t rows, std::size_t columns, double levels) {
    return [=](std::size_t row, std::size_t column) {
      const bool is_object = row >= 10 && row < 10 + rows && column >= 8 && column < 8 + columns;
      return scenery(row, column) + (is_object ? levels : 0);
    };
  }

  StillDetector detector_;
  double noise_ = 0.2;  // levels, of a block
  cv::RNG random_{1};
};

TEST_F(StillScene, ReusesAllButTheFirstFrameWhateverTheNoise) {
  for (const double noise : {0.0, 0.1, 0.4, 0.8, 1.5}) {
    detector_.forget();
    noise_ = noise;
    EXPECT_FALSE(see(scenery));
    EXPECT_GE(see(scenery, 10 * kSecond), 10 * kSecond - 5) << noise;
    EXPECT_NEAR(detector_.noise(), noise * std::sqrt(2), 0.1 + 0.2 * noise);
  }
}

TEST_F(StillScene, SeesAnObjectOfAQuarterOfAPercent) {
  see(scenery, kSecond);
  EXPECT_FALSE(see(with_object(1, 1, 5)));
  EXPECT_FALSE(see(scenery));
  EXPECT_FALSE(see(with_object(2, 2, -4)));
}

TEST_F(StillScene, SeesSmallThingsThroughTheNoiseOfANight) {
  noise_ = 1.5;
  see(scenery, kSecond);
  EXPECT_FALSE(see(with_object(2, 2, 20)));
  EXPECT_FALSE(see(scenery));
  EXPECT_FALSE(see(with_object(7, 7, 14)));
}

TEST_F(StillScene, SeesAChangeOfExposure) {
  for (const double noise : {0.2, 1.5}) {
    noise_ = noise;
    see(scenery, 2 * kSecond);
    EXPECT_FALSE(see([](auto row, auto column) { return 1.05 * scenery(row, column); })) << noise;
  }
}

TEST_F(StillScene, ComparesWithTheLastClassifiedFrameSoThatASlowFadeIsSeen) {
  see(scenery, 2 * kSecond);
  // A twentieth of a level a frame: no two frames differ by more than noise.
  double brighter = 0;
  const auto fading = [&](std::size_t row, std::size_t column) {
    return scenery(row, column) + brighter;
  };
  int classified = 0;
  for (int i = 0; i < 10 * kSecond; ++i, brighter += 0.05) classified += see(fading) ? 0 : 1;
  EXPECT_GE(classified, 8);
  EXPECT_LE(classified, 20);
}

TEST_F(StillScene, ReusesFramesInTheFlickerOfLampsAndSeesWhatHappensInIt) {
  int t = 0;
  double object = 0;
  // In bands, as of a rolling shutter.
  const auto flickering = [&](std::size_t row, std::size_t column) {
    const double phase = 3.34 * t + 0.11 * static_cast<double>(row);
    return with_object(2, 3, object)(row, column) * (1 + 0.015 * std::sin(6.283 * phase));
  };
  const auto next = [&] {
    ++t;
    return see(flickering);
  };
  for (int i = 0; i < 2 * kSecond; ++i) next();
  int reused = 0;
  for (int i = 0; i < 2 * kSecond; ++i) reused += next() ? 1 : 0;
  EXPECT_GE(reused, kSecond);
  object = 20;
  EXPECT_FALSE(next());
}

TEST_F(StillScene, DoesNotTakeWhatRisesForFlicker) {
  double brighter = 0;
  const auto rising = [&](std::size_t row, std::size_t column) {
    return scenery(row, column) + brighter;
  };
  see(scenery, 2 * kSecond);
  int reused = 0;
  for (int i = 0; i < 2 * kSecond; ++i, brighter += 0.7) reused += see(rising) ? 1 : 0;
  // Two frames differ by 1.4 levels, which is beyond what a row may differ.
  EXPECT_LE(reused, kSecond + 2);
}

TEST_F(StillScene, SeesACarBesideATreeThatSways) {
  for (const std::size_t tree : {10U, 22U}) {  // columns
    int t = 0;
    double car = 0;
    const auto swaying = [&](std::size_t row, std::size_t column) {
      const double leaf = static_cast<double>((row * 5 + column * 3) % 7) - 3;
      if (column < tree) return scenery(row, column) + 2.5 * leaf * std::sin(t * 1.7);
      return scenery(row, column) + (column >= 25 && row >= 20 && row < 24 ? car : 0);
    };
    // Nothing but the tree is classified, so that the car is compared with the last frame's road.
    for (; t < 5 * kSecond; ++t) see(swaying);
    EXPECT_LE(detector_.noise(), 3) << tree;
    car = 25;
    EXPECT_FALSE(see(swaying)) << tree;
  }
}

TEST_F(StillScene, SeesAChangeAfterASceneThatAlwaysMoved) {
  for (int t = 0; t < 5 * kSecond; ++t) {
    see([&](std::size_t row, std::size_t column) {
      return 120 + 80 * std::sin(t * 2.1 + static_cast<double>(row * 3 + column));
    });
  }
  see(scenery);
  EXPECT_FALSE(see(with_object(2, 2, 25)));
}

TEST_F(StillScene, LearnsTheNoiseOfAnotherLightWithinTwoSeconds) {
  see(scenery, 2 * kSecond);
  noise_ = 1.2;
  see(scenery, 2 * kSecond);
  EXPECT_GE(see(scenery, kSecond), kSecond - 1);
  noise_ = 0.1;
  see(scenery, kSecond);
  EXPECT_FALSE(see(with_object(1, 1, 5)));
}

TEST_F(StillScene, SeesAnInfraredFilterSwitch) {
  see(scenery, kSecond);
  EXPECT_FALSE(
      see([](auto row, auto column) { return 255 * std::pow(scenery(row, column) / 255, 0.8); }));
}

TEST_F(StillScene, KnowsNothingAfterForgetting) {
  see(scenery, kSecond);
  detector_.forget();
  EXPECT_EQ(detector_.noise(), 0);
  EXPECT_FALSE(detector_.is_still(picture(scenery)));
}

TEST_F(StillScene, IsNeverStillWithAnotherGridOrNone) {
  see(scenery, kSecond);
  LumaBlocks half = picture(scenery);
  half.row_ends.resize(kRows / 2);
  half.means.resize(half.row_ends.back());
  EXPECT_FALSE(detector_.is_still(half));
  detector_.classified(half);
  EXPECT_TRUE(detector_.is_still(half));
  EXPECT_FALSE(detector_.is_still({}));
}

// Frames wait to be classified while others are asked about.
TEST_F(StillScene, TakesAnOlderFrameForTheReference) {
  const LumaBlocks first = picture(scenery);
  EXPECT_FALSE(detector_.is_still(first));
  const LumaBlocks second = picture(with_object(3, 3, 30));
  EXPECT_FALSE(detector_.is_still(second));
  detector_.classified(first);
  EXPECT_FALSE(detector_.is_still(second));
  EXPECT_TRUE(detector_.is_still(first));
}

}  // namespace
}  // namespace lookout
