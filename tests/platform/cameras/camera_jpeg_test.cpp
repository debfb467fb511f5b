#include "platform/cameras/camera_jpeg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <utility>

#include "platform/sources/test_pattern.h"
#include "tests/platform/cameras/fake_hint.h"
#include "tests/support/encoded_jpeg.h"

namespace lookout {
namespace {

using testing::ElementsAre;

const cv::Size kLeast(240, 240);
const cv::Size kCamera(640, 480);
constexpr Clock::time_point kTime{};
const FakeHint::Look kGrayLook{CV_8UC1, cv::Size(80, 60), kCamera};
const FakeHint::Look kReducedLook{CV_8UC3, cv::Size(320, 240), kCamera};

void begin(CameraPicture& picture, const cv::Size& size = kCamera) {
  cv::Mat bgr(size, CV_8UC3);
  draw_pattern(Pattern::kColorSquares, bgr);
  picture.begin(CameraPicture::Kind::kJpeg, decode_camera_jpeg);
  picture.bytes = encoded(bgr);
}

TEST(CameraJpeg, ScaleLeavesTheLeastThatIsNeeded) {
  EXPECT_EQ(eighths_for({320, 240}, kLeast), 8);
  EXPECT_EQ(eighths_for({640, 480}, kLeast), 4);
  EXPECT_EQ(eighths_for({640, 478}, kLeast), 8);
  EXPECT_EQ(eighths_for({1280, 720}, kLeast), 4);
  EXPECT_EQ(eighths_for({1920, 1080}, kLeast), 4) << "a quarter would leave 270 lines";
  EXPECT_EQ(eighths_for({3840, 2160}, kLeast), 2);
  EXPECT_EQ(eighths_for({7680, 4320}, kLeast), 1);
  EXPECT_EQ(eighths_for({160, 120}, kLeast), 8) << "never enlarged";
  EXPECT_EQ(eighths_for({1280, 720}, {300, 600}), 8) << "a view that needs more lines";
  EXPECT_EQ(eighths_for({1280, 720}, {640, 240}), 4) << "or more columns";
}

TEST(CameraJpeg, WithoutAHintAllPixelsAreDecoded) {
  JpegReader reader(nullptr);
  CameraPicture picture;
  begin(picture);
  EXPECT_EQ(reader.read(picture, kTime), kCamera);
  EXPECT_EQ(picture.eighths, 8);
  EXPECT_TRUE(picture.has_reduced);
  EXPECT_EQ(picture.reduced.size(), kCamera);
  EXPECT_FALSE(picture.has_blocks);
}

TEST(CameraJpeg, ScaleFollowsTheHint) {
  FakeHint hint([](int) { return false; });
  JpegReader reader(&hint);
  CameraPicture picture;
  for (const auto& [least, decoded] :
       {std::pair(cv::Size(240, 240), cv::Size(320, 240)), std::pair(cv::Size(480, 480), kCamera),
        std::pair(cv::Size(80, 40), cv::Size(160, 120))}) {
    hint.least = least;
    begin(picture);
    EXPECT_EQ(reader.read(picture, kTime), kCamera);
    EXPECT_EQ(picture.reduced.size(), decoded);
  }
}

TEST(CameraJpeg, DamagedOneHasNoSize) {
  JpegReader reader(nullptr);
  CameraPicture picture;
  begin(picture);
  picture.bytes.resize(picture.bytes.size() / 2);
  EXPECT_FALSE(reader.read(picture, kTime));
  picture.bytes.clear();
  EXPECT_FALSE(reader.read(picture, kTime));
}

TEST(CameraJpeg, StillOnesAreDecodedInGrayAlone) {
  FakeHint hint([](int look) { return look >= 1; });
  JpegReader reader(&hint);
  CameraPicture picture;
  for (int i = 0; i < 4; ++i) {
    begin(picture);
    EXPECT_EQ(reader.read(picture, kTime), kCamera);
    EXPECT_EQ(picture.has_reduced, i < 2) << i;
    EXPECT_EQ(picture.eighths, 4) << i;
    EXPECT_TRUE(picture.has_blocks);
    EXPECT_THAT(picture.blocks.front().means, ElementsAre(i + 1));
  }
  EXPECT_THAT(hint.looked_at, ElementsAre(kReducedLook, kReducedLook, kGrayLook, kGrayLook));
  cv::Mat reduced;
  EXPECT_TRUE(picture.decode(picture, picture.eighths, reduced)) << "somebody may want it";
  EXPECT_EQ(reduced.size(), cv::Size(320, 240));
}

TEST(CameraJpeg, WhatChangedAfterAStillOneIsDecodedAndMeasuredAtItsScale) {
  FakeHint hint([](int look) { return look == 0; });
  JpegReader reader(&hint);
  CameraPicture picture;
  for (int i = 0; i < 3; ++i) {
    begin(picture);
    EXPECT_EQ(reader.read(picture, kTime), kCamera);
    EXPECT_TRUE(picture.has_reduced) << i;
  }
  EXPECT_THAT(hint.looked_at, ElementsAre(kReducedLook, kGrayLook, kReducedLook, kReducedLook));
}

TEST(CameraJpeg, DamagedOneAfterAStillOneHasNoSize) {
  FakeHint hint([](int) { return true; });
  JpegReader reader(&hint);
  CameraPicture picture;
  begin(picture);
  ASSERT_TRUE(reader.read(picture, kTime));
  begin(picture);
  picture.bytes.resize(picture.bytes.size() / 2);
  EXPECT_FALSE(reader.read(picture, kTime));
}

TEST(CameraJpeg, OneThatWillNotBeWantedIsNotDecoded) {
  FakeHint hint([](int) { return false; });
  JpegReader reader(&hint);
  CameraPicture picture;
  for (const bool unwanted : {false, true, false}) {
    hint.unwanted = unwanted;
    begin(picture);
    EXPECT_EQ(reader.read(picture, kTime), kCamera);
    EXPECT_EQ(picture.has_reduced, !unwanted);
    EXPECT_EQ(picture.has_blocks, !unwanted);
    EXPECT_EQ(picture.eighths, 4);
  }
}

TEST(CameraJpeg, AllPixelsOfOneAtFullScaleAreThoseThatAreThere) {
  FakeHint hint([](int) { return false; });
  JpegReader reader(&hint);
  Frame frame;
  begin(frame.picture, {320, 240});
  ASSERT_TRUE(reader.read(frame.picture, kTime));
  EXPECT_EQ(whole_picture(frame).data, frame.picture.reduced.data);
  begin(frame.picture);
  ASSERT_TRUE(reader.read(frame.picture, kTime));
  EXPECT_EQ(whole_picture(frame).size(), kCamera);
}

}  // namespace
}  // namespace lookout
