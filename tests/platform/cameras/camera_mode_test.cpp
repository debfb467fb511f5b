#include "platform/cameras/camera_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/videodev2.h>

namespace lookout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CameraSize size(int width, int height, std::vector<double> rates) {
  CameraSize size;
  size.width = size.max_width = width;
  size.height = size.max_height = height;
  size.rates = std::move(rates);
  return size;
}

CameraSize grid(int max_width, int max_height, std::vector<double> rates) {
  CameraSize size;
  size.width = size.height = 16;
  size.max_width = max_width;
  size.max_height = max_height;
  size.width_step = size.height_step = 8;
  size.rates = std::move(rates);
  size.any_rate = !size.rates.empty();
  return size;
}

CameraFormat format(std::uint32_t fourcc, std::vector<CameraSize> sizes) {
  return {fourcc, fourcc_to_text(fourcc), std::move(sizes)};
}

// "640x480 YUYV 30", or "nothing".
std::string chosen(const std::vector<CameraFormat>& formats, const ModeWish& wish = {}) {
  const auto mode = choose_mode(formats, wish).mode;
  if (!mode) return "nothing";
  return std::to_string(mode->width) + "x" + std::to_string(mode->height) + " " +
         fourcc_to_text(mode->fourcc) + " " + rate_to_text(mode->framerate);
}

// As the common USB camera has it: large raw pictures do not fit the line.
std::vector<CameraFormat> webcam() {
  return {format(V4L2_PIX_FMT_MJPEG, {size(1920, 1080, {30}), size(1280, 720, {30, 15}),
                                      size(640, 480, {30, 15}), size(320, 240, {30})}),
          format(V4L2_PIX_FMT_YUYV,
                 {size(1920, 1080, {5}), size(1280, 720, {10, 5}), size(640, 480, {30, 25, 15}),
                  size(320, 240, {30, 15}), size(160, 120, {30})})};
}

TEST(ChooseMode, TheSmallestSizeThatIsEnoughAndFastEnough) {
  EXPECT_EQ(chosen(webcam()), "320x240 YUYV 30 fps");
  ModeWish wish;
  wish.needed_width = wish.needed_height = 299;
  EXPECT_EQ(chosen(webcam(), wish), "640x480 YUYV 30 fps");
  wish.needed_width = wish.needed_height = 500;
  EXPECT_EQ(chosen(webcam(), wish), "1280x720 MJPG 30 fps") << "YUYV gives 10 there";
}

TEST(ChooseMode, OfEqualSizesTheCheapestFormat) {
  auto formats = webcam();
  formats.push_back(format(V4L2_PIX_FMT_BGR24, {size(320, 240, {30})}));
  EXPECT_EQ(chosen(formats), "320x240 BGR3 30 fps");
}

TEST(ChooseMode, WhatTheUserSaysComesFirst) {
  ModeWish wish;
  wish.width = 1280;
  wish.height = 720;
  EXPECT_EQ(chosen(webcam(), wish), "1280x720 MJPG 30 fps");
  wish.framerate = 8;
  EXPECT_EQ(chosen(webcam(), wish), "1280x720 YUYV 10 fps");
  wish.framerate = 120;
  EXPECT_EQ(chosen(webcam(), wish), "1280x720 MJPG 30 fps") << "the size is kept";
  wish.height.reset();
  wish.framerate = 30;
  wish.width = 640;
  EXPECT_EQ(chosen(webcam(), wish), "640x480 YUYV 30 fps");
}

TEST(ChooseMode, AHeightAloneIsEnough) {
  ModeWish wish;
  wish.height = 480;
  EXPECT_EQ(chosen(webcam(), wish), "640x480 YUYV 30 fps");
  wish.height = 720;
  EXPECT_EQ(chosen(webcam(), wish), "1280x720 MJPG 30 fps");
}

TEST(ChooseMode, ASizeThatDoesNotExistGivesTheNextLarger) {
  ModeWish wish;
  wish.width = 700;
  wish.height = 500;
  EXPECT_EQ(chosen(webcam(), wish), "1280x720 MJPG 30 fps");
  wish.width = 4000;
  wish.height = 3000;
  EXPECT_EQ(chosen(webcam(), wish), "1920x1080 MJPG 30 fps");
}

TEST(ChooseMode, TheSlowestRateThatIsFastEnoughIsAskedFor) {
  ModeWish wish;
  wish.framerate = 20;
  EXPECT_EQ(chosen(webcam(), wish), "320x240 YUYV 30 fps");
  wish.framerate = 15;
  EXPECT_EQ(chosen(webcam(), wish), "320x240 YUYV 15 fps");
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_YUYV, {size(640, 480, {60, 29.97, 15})})}),
            "640x480 YUYV 29.97 fps")
      << "which is 30";
}

TEST(FrameInterval, IsTheSimplestOfItsRate) {
  const auto text = [](double fps) {
    const FrameInterval interval = interval_of(fps);
    return std::to_string(interval.numerator) + "/" + std::to_string(interval.denominator);
  };
  EXPECT_EQ(text(30), "1/30");
  EXPECT_EQ(text(7.5), "2/15");
  EXPECT_EQ(text(30000.0 / 1001), "1001/30000");
  EXPECT_EQ(text(60000.0 / 1001), "1001/60000");
  EXPECT_EQ(text(29.97), "100/2997");
  EXPECT_EQ(text(1.0 / 3), "3/1");
}

TEST(FrameInterval, OfNothingIsAnUnknownRate) {
  EXPECT_EQ(rate_of({1001, 30000}), 30000.0 / 1001);
  EXPECT_EQ(rate_of({0, 30}), 0);
}

TEST(ChooseMode, WhereNothingIsEnoughTheBestThereIs) {
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_YUYV, {size(640, 480, {15}), size(320, 240, {20})})}),
            "320x240 YUYV 20 fps")
      << "the fastest";
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_YUYV, {size(160, 120, {30}), size(176, 144, {30})})}),
            "176x144 YUYV 30 fps")
      << "the largest";
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_YUYV, {size(160, 120, {30}), size(640, 480, {10})})}),
            "640x480 YUYV 10 fps")
      << "a size that the model can use";
}

TEST(ChooseMode, GridsGiveTheirNearestPlaceAbove) {
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_BGR24, {grid(1920, 1080, {90, 1})})}),
            "224x224 BGR3 30 fps");
  ModeWish wish;
  wish.needed_width = 225;
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_BGR24, {grid(1920, 1080, {})})}, wish),
            "232x224 BGR3 30 fps")
      << "what is not told counts as fast enough";
  wish.framerate = 120;
  EXPECT_EQ(chosen({format(V4L2_PIX_FMT_BGR24, {grid(200, 100, {90, 1})})}, wish),
            "200x100 BGR3 90 fps");
}

TEST(ChooseMode, WhatCannotBeReadIsNotTaken) {
  CameraFormat bayer = format(V4L2_PIX_FMT_SBGGR10P, {grid(4056, 3040, {})});
  bayer.description = "10-bit Bayer BGBG Packed";
  const CameraFormat h264 = format(V4L2_PIX_FMT_H264, {size(640, 480, {30})});
  EXPECT_EQ(chosen({bayer, h264}), "nothing");
  EXPECT_EQ(chosen({}), "nothing");
  const ModeChoice choice = choose_mode({bayer, h264}, {});
  ASSERT_EQ(choice.rejected.size(), 2U);
  EXPECT_EQ(choice.rejected[0].reason, "raw Bayer, which needs csi://0");
  EXPECT_EQ(choice.rejected[1].reason, "a format that cannot be read");
}

TEST(ChooseMode, EveryRejectionHasItsReason) {
  EXPECT_THAT(
      to_text(choose_mode(webcam(), {})),
      ElementsAre("takes 320x240 YUYV at 30 fps",
                  "not taken, larger than needed: MJPG 1920x1080, MJPG 1280x720, MJPG "
                  "640x480, YUYV 640x480",
                  "not taken, costs more than YUYV: MJPG 320x240",
                  "not taken, only 5 fps: YUYV 1920x1080", "not taken, only 10 fps: YUYV 1280x720",
                  "not taken, smaller than 224x224: YUYV 160x120"));
  ModeWish wish;
  wish.width = 1280;
  EXPECT_THAT(
      to_text(choose_mode({format(V4L2_PIX_FMT_H264, {size(9, 9, {}), size(8, 8, {})}),
                           format(V4L2_PIX_FMT_YUYV, {size(1280, 720, {30})}),
                           format(V4L2_PIX_FMT_YUYV, {size(640, 480, {30})})},
                          wish)),
      ElementsAre("takes 1280x720 YUYV at 30 fps", "not taken, a format that cannot be read: H264",
                  "not taken, not the size that was asked for: YUYV 640x480"));
  EXPECT_THAT(to_text(ModeChoice{}), IsEmpty());
}

TEST(ChooseMode, TextsOfWhatDriversTell) {
  EXPECT_EQ(fourcc_to_text(V4L2_PIX_FMT_Y16), "Y16");
  EXPECT_EQ(to_text(grid(1920, 1080, {})), "16x16...1920x1080");
  EXPECT_EQ(rate_to_text(0), "an unknown rate");
  EXPECT_EQ(rate_to_text(30000.0 / 1001), "29.97 fps");
  EXPECT_FALSE(is_slower(30000.0 / 1001, 30));
  EXPECT_TRUE(is_slower(25, 30));
}

TEST(Shortfall, IsToldInBothFigures) {
  ModeWish wish;
  EXPECT_EQ(shortfall_of(wish, 640, 480, 30), "");
  EXPECT_EQ(shortfall_of(wish, 640, 480, 60), "");
  EXPECT_EQ(shortfall_of(wish, 640, 480, 30000.0 / 1001), "");
  EXPECT_EQ(shortfall_of(wish, 640, 480, 0), "") << "not known to be less";
  EXPECT_EQ(shortfall_of(wish, 640, 480, 15),
            "asked for 640x480 at 30 fps, the camera gives 640x480 at 15 fps");
  wish.width = 333;
  EXPECT_EQ(shortfall_of(wish, 334, 252, 30),
            "asked for 333x252 at 30 fps, the camera gives 334x252 at 30 fps");
  EXPECT_EQ(shortfall_of(wish, 334, 252, 0),
            "asked for 333x252 at 30 fps, the camera gives 334x252 at an unknown rate");
}

TEST(Shortfall, IsAlsoASizeThatIsTooSmallForTheModelUnlessItWasAskedFor) {
  ModeWish wish;
  EXPECT_EQ(shortfall_of(wish, 160, 120, 30),
            "the model looks at 224x224 pixels, the camera gives 160x120 at most");
  wish.width = 160;
  EXPECT_EQ(shortfall_of(wish, 160, 120, 30), "");
}

}  // namespace
}  // namespace lookout
