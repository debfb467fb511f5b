#include "platform/cameras/v4l2_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <opencv2/core.hpp>
#include <vector>

#include "platform/cameras/raw_converter.h"

namespace lookout {
namespace {

YuvEncoding encoding(std::uint32_t space, std::uint32_t ycbcr = V4L2_YCBCR_ENC_DEFAULT,
                     std::uint32_t quantization = V4L2_QUANTIZATION_DEFAULT) {
  v4l2_pix_format format{};
  format.colorspace = space;
  format.ycbcr_enc = ycbcr;
  format.quantization = quantization;
  return yuv_encoding_of(format);
}

TEST(V4l2Picture, EncodingFollowsTheColorSpaceAsInTheKernel) {
  for (const std::uint32_t space : {V4L2_COLORSPACE_DEFAULT, V4L2_COLORSPACE_SMPTE170M,
                                    V4L2_COLORSPACE_SRGB, V4L2_COLORSPACE_470_SYSTEM_BG}) {
    EXPECT_EQ(encoding(space).matrix, ColorMatrix::kBt601) << space;
    EXPECT_FALSE(encoding(space).full_range) << space;
  }
  EXPECT_EQ(encoding(V4L2_COLORSPACE_REC709).matrix, ColorMatrix::kBt709);
  EXPECT_FALSE(encoding(V4L2_COLORSPACE_REC709).full_range);
  EXPECT_EQ(encoding(V4L2_COLORSPACE_JPEG).matrix, ColorMatrix::kBt601);
  EXPECT_TRUE(encoding(V4L2_COLORSPACE_JPEG).full_range);
}

TEST(V4l2Picture, WhatTheDriverSaysCountsMoreThanTheDefault) {
  EXPECT_EQ(encoding(V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_709).matrix, ColorMatrix::kBt709);
  EXPECT_EQ(encoding(V4L2_COLORSPACE_REC709, V4L2_YCBCR_ENC_601).matrix, ColorMatrix::kBt601);
  EXPECT_TRUE(encoding(V4L2_COLORSPACE_REC709, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_FULL_RANGE)
                  .full_range);
  EXPECT_FALSE(encoding(V4L2_COLORSPACE_JPEG, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_LIM_RANGE)
                   .full_range);
}

TEST(V4l2Picture, ALimitedRangeByDefaultIsNotDeclared) {
  for (const std::uint32_t space :
       {V4L2_COLORSPACE_DEFAULT, V4L2_COLORSPACE_SRGB, V4L2_COLORSPACE_REC709}) {
    EXPECT_FALSE(encoding(space).range_declared) << space;
    EXPECT_TRUE(
        encoding(space, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_LIM_RANGE).range_declared);
    EXPECT_TRUE(
        encoding(space, V4L2_YCBCR_ENC_DEFAULT, V4L2_QUANTIZATION_FULL_RANGE).range_declared);
  }
  EXPECT_TRUE(encoding(V4L2_COLORSPACE_JPEG).range_declared) << "the full one";
}

V4l2Format format_of(std::uint32_t fourcc, int width, int height) {
  V4l2Format format;
  format.fourcc = fourcc;
  format.width = width;
  format.height = height;
  return format;
}

TEST(V4l2Picture, JpegHasNoRawLayout) {
  EXPECT_FALSE(raw_picture_of(format_of(V4L2_PIX_FMT_MJPEG, 640, 480)));
  EXPECT_FALSE(raw_picture_of(format_of(V4L2_PIX_FMT_H264, 640, 480)));
}

TEST(V4l2Picture, AStrideOfZeroIsTheWidth) {
  EXPECT_EQ(raw_picture_of(format_of(V4L2_PIX_FMT_YUYV, 640, 480))->stride, 1280U);
}

// Luma of a gray, then chroma of a strong red: a plane that began a line too early would be seen.
TEST(V4l2Picture, ChromaOfAnOddHeightBeginsAfterTheLastLine) {
  constexpr unsigned char kLuma = 81;
  constexpr unsigned char kU = 90;
  constexpr unsigned char kV = 240;
  constexpr int kWidth = 8;
  constexpr int kHeight = 5;
  constexpr int kChromaLines = 3;
  for (const std::uint32_t fourcc : {V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_YUV420}) {
    std::vector<unsigned char> memory(kWidth * kHeight, kLuma);
    if (fourcc == V4L2_PIX_FMT_NV12) {
      for (int i = 0; i < kWidth / 2 * kChromaLines; ++i) memory.insert(memory.end(), {kU, kV});
    } else {
      memory.insert(memory.end(), kWidth / 2 * kChromaLines, kU);
      memory.insert(memory.end(), kWidth / 2 * kChromaLines, kV);
    }
    auto picture = raw_picture_of(format_of(fourcc, kWidth, kHeight));
    ASSERT_TRUE(picture);
    EXPECT_EQ(picture->height, 4);
    EXPECT_LE(contiguous_size(*picture), memory.size());
    set_planes(memory.data(), *picture);
    cv::Mat bgr;
    convert_to_bgr(*picture, bgr);
    const cv::Mat red(4, kWidth, CV_8UC3, cv::Scalar(0, 0, 255));
    EXPECT_LE(cv::norm(bgr, red, cv::NORM_INF), 3) << bgr;
  }
}

}  // namespace
}  // namespace lookout
