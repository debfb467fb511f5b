#include "platform/sources/video_picture.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace lookout {
namespace {

struct Free {
  void operator()(AVFrame* picture) const { av_frame_free(&picture); }
};

// The gray that a picture of this luma is shown as.
int gray_of(AVPixelFormat format, int luma) {
  constexpr int kNoColor = 128;
  const std::unique_ptr<AVFrame, Free> picture(av_frame_alloc());
  picture->format = format;
  picture->width = 64;
  picture->height = 48;
  EXPECT_EQ(av_frame_get_buffer(picture.get(), 0), 0);
  for (const AVBufferRef* buffer : picture->buf) {
    if (buffer != nullptr) std::memset(buffer->data, kNoColor, buffer->size);
  }
  for (int y = 0; y < picture->height; ++y) {
    std::memset(picture->data[0] + y * picture->linesize[0], luma, 64);
  }
  cv::Mat bgr;
  VideoPicture().convert(*picture, bgr);
  return bgr.at<cv::Vec3b>(24, 32)[1];
}

constexpr double kRounding = 2;  // of swscale's routines for aarch64

TEST(VideoPicture, TheFullRangeMayBeInTheNameOfTheFormatAlone) {
  for (const AVPixelFormat format : {AV_PIX_FMT_YUVJ411P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P,
                                     AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ444P}) {
    EXPECT_NEAR(gray_of(format, 16), 16, kRounding) << av_get_pix_fmt_name(format);
    EXPECT_NEAR(gray_of(format, 235), 235, kRounding) << av_get_pix_fmt_name(format);
  }
  for (const AVPixelFormat format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P}) {
    EXPECT_NEAR(gray_of(format, 16), 0, kRounding) << av_get_pix_fmt_name(format);
    EXPECT_NEAR(gray_of(format, 235), 255, kRounding) << av_get_pix_fmt_name(format);
  }
}

}  // namespace
}  // namespace lookout
