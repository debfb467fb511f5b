#include "pipeline/model/luma_grid.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kLevel = LumaBlocks::kUnit;

// A picture with luma that rises from left to right.
struct GradedPicture {
  RawPicture raw;
  std::vector<unsigned char> memory;
};

GradedPicture graded_picture(RawFormat format, int width, int height) {
  GradedPicture picture;
  picture.raw.format = format;
  picture.raw.width = width;
  picture.raw.height = height;
  picture.raw.stride = min_stride(format, width) + 32;
  picture.memory.assign(contiguous_size(picture.raw), 77);
  set_planes(picture.memory.data(), picture.raw);
  for (int y = 0; y < height; ++y) {
    const SampleLine line = sample_line(picture.raw, y);
    for (int x = 0; x < width; ++x) {
      picture.memory[static_cast<std::size_t>(line.luma - picture.memory.data() +
                                              x * line.luma_step)] =
          static_cast<unsigned char>(x * 255 / (width - 1));
    }
  }
  return picture;
}

std::vector<std::uint16_t> blocks_of(LumaGrid& grid, const cv::Mat& picture,
                                     const cv::Size& frame) {
  LumaBlocks blocks;
  grid.measure(picture, frame, blocks);
  return blocks.means;
}

// All are 0, except those of a rectangle of the frame, whose luma is 200.
std::size_t lit_blocks(LumaGrid& grid, const cv::Size& frame, const cv::Rect& lit) {
  cv::Mat picture(frame, CV_8UC1, cv::Scalar(0));
  picture(lit).setTo(200);
  const std::vector<std::uint16_t> means = blocks_of(grid, picture, frame);
  return static_cast<std::size_t>(
      std::count_if(means.begin(), means.end(), [](int mean) { return mean > 0; }));
}

TEST(LumaGridTest, HasAbout900BlocksForFramesOfAnySize) {
  for (const cv::Size size : {cv::Size(320, 240), cv::Size(640, 480), cv::Size(720, 576),
                              cv::Size(1280, 720), cv::Size(1920, 1080), cv::Size(3840, 2160)}) {
    LumaGrid grid(View{}, InputSpec{}, {});
    const auto means = blocks_of(grid, cv::Mat(size, CV_8UC1, cv::Scalar(9)), size);
    EXPECT_GE(means.size(), 650U) << size;
    EXPECT_LE(means.size(), 2100U) << size;
    EXPECT_THAT(means, Each(9 * kLevel)) << size;
  }
}

TEST(LumaGridTest, CutsTheClassifiedSquareOutOfAWideFrame) {
  const cv::Size frame(640, 480);
  LumaGrid grid(View{}, InputSpec{}, {});
  EXPECT_EQ(lit_blocks(grid, frame, {0, 0, 80, 480}), 0U);
  EXPECT_EQ(lit_blocks(grid, frame, {560, 0, 80, 480}), 0U);
  EXPECT_EQ(lit_blocks(grid, frame, {80, 0, 480, 480}), 900U);
  InputSpec stretched;
  stretched.resize = ResizeMode::kStretch;
  LumaGrid all(View{}, stretched, {});
  EXPECT_EQ(lit_blocks(all, frame, {0, 0, 640, 480}), 1200U);
}

TEST(LumaGridTest, FollowsARegionOfInterestThroughTurnsAndMirrors) {
  // The upper right quarter of what the viewer sees.
  View view;
  view.roi = {0.5, 0, 0.5, 0.5};
  const cv::Size frame(480, 480);
  const auto is_covered = [&](const cv::Rect& quarter) {
    LumaGrid grid(view, InputSpec{}, {});
    return lit_blocks(grid, frame, quarter) > 0;
  };
  const cv::Rect upper_left(0, 0, 240, 240);
  const cv::Rect upper_right(240, 0, 240, 240);
  const cv::Rect lower_left(0, 240, 240, 240);
  EXPECT_TRUE(is_covered(upper_right));
  view.rotation = 90;
  EXPECT_TRUE(is_covered(upper_left));
  view.rotation = 180;
  EXPECT_TRUE(is_covered(lower_left));
  view.vflip = true;
  EXPECT_TRUE(is_covered(upper_left));
}

TEST(LumaGridTest, LeavesOutBlocksThatAnIgnoredRectangleTouches) {
  const cv::Size frame(640, 480);
  View view;
  LumaGrid grid(view, InputSpec{}, {{0, 0, 1, 0.11}});
  EXPECT_EQ(lit_blocks(grid, frame, {0, 0, 640, 64}), 0U);
  EXPECT_EQ(lit_blocks(grid, frame, {0, 0, 640, 480}), 30U * 26U);
  // It belongs to the turned picture, not to the frame.
  view.rotation = 180;
  LumaGrid turned(view, InputSpec{}, {{0, 0, 1, 0.11}});
  EXPECT_EQ(lit_blocks(turned, frame, {0, 416, 640, 64}), 0U);

  LumaGrid nothing(view, InputSpec{}, {{0, 0, 1, 1}});
  LumaBlocks blocks;
  nothing.measure(cv::Mat(frame, CV_8UC1, cv::Scalar(9)), frame, blocks);
  EXPECT_THAT(blocks.means, IsEmpty());
  EXPECT_THAT(blocks.row_ends, IsEmpty());
}

TEST(LumaGridTest, TellsWhereRowsEnd) {
  View view;
  view.roi = {0, 0, 0.25, 0.25};
  LumaGrid grid(view, InputSpec{}, {{0, 0, 0.01, 0.01}});
  LumaBlocks blocks;
  grid.measure(cv::Mat(96, 96, CV_8UC1, cv::Scalar(9)), {96, 96}, blocks);
  EXPECT_THAT(blocks.means, SizeIs(8));
  EXPECT_THAT(blocks.row_ends, ElementsAre(2, 5, 8));
}

TEST(LumaGridTest, ReadsTheLumaOfEachFormat) {
  LumaGrid grid(View{}, InputSpec{}, {});
  LumaBlocks expected;
  grid.measure(graded_picture(RawFormat::kNv12, 320, 240).raw, expected);
  EXPECT_LT(expected.means.front(), expected.means[expected.row_ends[0] - 1]);
  for (const RawFormat format : {RawFormat::kYuyv, RawFormat::kYvyu, RawFormat::kUyvy,
                                 RawFormat::kNv21, RawFormat::kI420, RawFormat::kYv12}) {
    const GradedPicture picture = graded_picture(format, 320, 240);
    LumaBlocks blocks;
    grid.measure(picture.raw, blocks);
    EXPECT_EQ(blocks.means, expected.means) << static_cast<int>(format);
  }
}

TEST(LumaGridTest, GivesTheSameBlocksForEachFractionOfAFrame) {
  // 1922 and 1078 are no multiples of 8: libjpeg rounds up.
  for (const cv::Size frame : {cv::Size(640, 480), cv::Size(1922, 1078), cv::Size(322, 246)}) {
    cv::Mat cells((frame.height + 7) / 8, (frame.width + 7) / 8, CV_8UC1);
    cv::theRNG().state = 1;
    cv::randu(cells, 0, 256);
    LumaGrid grid(View{}, InputSpec{}, {});
    const std::vector<std::uint16_t> expected = blocks_of(grid, cells, frame);
    for (int eighths = 2; eighths < 8; ++eighths) {
      cv::Mat picture((frame.height * eighths + 7) / 8, (frame.width * eighths + 7) / 8, CV_8UC3);
      for (int y = 0; y < picture.rows; ++y) {
        for (int x = 0; x < picture.cols; ++x) {
          const auto luma = cells.at<std::uint8_t>(y / eighths, x / eighths);
          picture.at<cv::Vec3b>(y, x) = {luma, luma, luma};
        }
      }
      EXPECT_EQ(blocks_of(grid, picture, frame), expected) << frame << " " << eighths;
    }
  }
}

TEST(LumaGridTest, WeighsColorsAsJpegsDo) {
  LumaGrid grid(View{}, InputSpec{}, {});
  const cv::Size frame(64, 64);
  const auto luma = [&](const cv::Scalar& bgr) {
    return blocks_of(grid, cv::Mat(frame, CV_8UC3, bgr), frame).front() / kLevel;
  };
  EXPECT_EQ(luma({255, 0, 0}), 29);
  EXPECT_EQ(luma({0, 255, 0}), 149);
  EXPECT_EQ(luma({0, 0, 255}), 77);
  EXPECT_EQ(luma({255, 255, 255}), 255);
}

TEST(LumaGridTest, HasNoBlocksWhereARegionIsTooSmall) {
  LumaGrid grid(View{}, InputSpec{}, {});
  for (const cv::Size size : {cv::Size(1, 1), cv::Size(7, 7), cv::Size(640, 7)}) {
    EXPECT_THAT(blocks_of(grid, cv::Mat(size, CV_8UC1, cv::Scalar(9)), size), IsEmpty()) << size;
  }
  EXPECT_THAT(blocks_of(grid, cv::Mat(8, 8, CV_8UC1, cv::Scalar(9)), {8, 8}), SizeIs(1));
}

TEST(LumaGridTest, RefusesAPictureThatIsNoFractionOfTheFrame) {
  LumaGrid grid(View{}, InputSpec{}, {});
  EXPECT_THROW(blocks_of(grid, cv::Mat(240, 321, CV_8UC1), {640, 480}), Error);
  EXPECT_THROW(blocks_of(grid, cv::Mat(480, 640, CV_8UC4), {640, 480}), Error);
}

}  // namespace
}  // namespace lookout
