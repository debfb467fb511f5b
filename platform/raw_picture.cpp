#include "platform/raw_picture.h"

#include <cmath>
#include <opencv2/imgproc.hpp>

namespace lookout {
namespace {

// OpenCV converts the limited range only.
unsigned char limited_luma(int value) {
  return static_cast<unsigned char>(std::lround(16 + value * 219.0 / 255));
}

unsigned char limited_chroma(int value) {
  return static_cast<unsigned char>(std::lround(128 + (value - 128) * 224.0 / 255));
}

// A table for each of two interleaved channels.
template <typename First, typename Second>
cv::Mat make_table(First first, Second second) {
  cv::Mat table(1, 256, CV_8UC2);
  for (int i = 0; i < 256; ++i) table.at<cv::Vec2b>(i) = {first(i), second(i)};
  return table;
}

// Header of one plane. OpenCV has no picture without the right to write to it.
cv::Mat plane(const RawPicture& picture, std::size_t index, int height, int width, int type) {
  auto* data = const_cast<unsigned char*>(picture.planes[index]);
  return {height, width, type, data, picture.stride};
}

}  // namespace

std::size_t plane_count(RawFormat format) { return format == RawFormat::kNv12 ? 2 : 1; }

std::size_t least_stride(RawFormat format, int width) {
  const auto pixels = static_cast<std::size_t>(width);
  if (format == RawFormat::kNv12) return pixels;
  return format == RawFormat::kYuyv ? 2 * pixels : 3 * pixels;
}

std::size_t plane_size(RawFormat format, int width, int height, std::size_t stride,
                       std::size_t plane) {
  const auto lines = static_cast<std::size_t>(plane == 0 ? height : height / 2);
  return lines == 0 ? 0 : (lines - 1) * stride + least_stride(format, width);
}

void RawConverter::convert(const RawPicture& picture, cv::Mat& bgr) {
  static const cv::Mat luma_table = make_table(limited_luma, limited_luma);
  static const cv::Mat chroma_table = make_table(limited_chroma, limited_chroma);
  static const cv::Mat yuyv_table = make_table(limited_luma, limited_chroma);
  const int width = picture.width;
  const int height = picture.height;
  switch (picture.format) {
    case RawFormat::kBgr:
      plane(picture, 0, height, width, CV_8UC3).copyTo(bgr);
      break;
    case RawFormat::kRgb:
      cv::cvtColor(plane(picture, 0, height, width, CV_8UC3), bgr, cv::COLOR_RGB2BGR);
      break;
    case RawFormat::kNv12: {
      cv::Mat luma = plane(picture, 0, height, width, CV_8UC1);
      cv::Mat chroma = plane(picture, 1, height / 2, width / 2, CV_8UC2);
      if (picture.full_range) {
        // Two pixels at a time, as the table has it.
        cv::LUT(plane(picture, 0, height, width / 2, CV_8UC2), luma_table, limited_[0]);
        cv::LUT(chroma, chroma_table, limited_[1]);
        luma = limited_[0].reshape(1);
        chroma = limited_[1];
      }
      cv::cvtColorTwoPlane(luma, chroma, bgr, cv::COLOR_YUV2BGR_NV12);
      break;
    }
    case RawFormat::kYuyv: {
      cv::Mat packed = plane(picture, 0, height, width, CV_8UC2);
      if (picture.full_range) {
        cv::LUT(packed, yuyv_table, limited_[0]);
        packed = limited_[0];
      }
      cv::cvtColor(packed, bgr, cv::COLOR_YUV2BGR_YUY2);
      break;
    }
  }
}

}  // namespace lookout
