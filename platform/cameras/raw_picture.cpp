#include "platform/cameras/raw_picture.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "platform/cameras/bt709.h"

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

// The chroma planes of kI420 and kYv12 have half of the first plane's stride, all others the same.
std::size_t stride_of(RawFormat format, std::size_t stride, std::size_t plane) {
  return plane_count(format) == 3 && plane > 0 ? stride / 2 : stride;
}

// The offset of a plane in contiguous memory. With an odd number of lines the last one has a line
// of chroma, too.
std::size_t offset_of(const RawPicture& picture, std::size_t plane) {
  const int luma_lines = std::max(picture.lines, picture.height);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < plane; ++i) {
    const int lines = i == 0 ? luma_lines : (luma_lines + 1) / 2;
    offset += static_cast<std::size_t>(lines) * stride_of(picture.format, picture.stride, i);
  }
  return offset;
}

// A header of one plane. OpenCV only reads it, although its type allows writing.
cv::Mat plane(const RawPicture& picture, std::size_t index, int height, int width, int type) {
  auto* data = const_cast<unsigned char*>(picture.planes[index]);
  return {height, width, type, data, stride_of(picture.format, picture.stride, index)};
}

}  // namespace

std::size_t plane_count(RawFormat format) {
  switch (format) {
    case RawFormat::kNv12:
    case RawFormat::kNv21:
      return 2;
    case RawFormat::kI420:
    case RawFormat::kYv12:
      return 3;
    default:
      return 1;
  }
}

bool is_subsampled(RawFormat format) {
  switch (format) {
    case RawFormat::kBgr:
    case RawFormat::kRgb:
    case RawFormat::kBgrx:
    case RawFormat::kRgb565:
    case RawFormat::kGray:
      return false;
    default:
      return true;
  }
}

std::size_t plane_stride(const RawPicture& picture, std::size_t plane) {
  return stride_of(picture.format, picture.stride, plane);
}

std::size_t min_stride(RawFormat format, int width) {
  const auto pixels = static_cast<std::size_t>(width);
  switch (format) {
    case RawFormat::kBgr:
    case RawFormat::kRgb:
      return 3 * pixels;
    case RawFormat::kBgrx:
      return 4 * pixels;
    case RawFormat::kRgb565:
    case RawFormat::kYuyv:
    case RawFormat::kYvyu:
    case RawFormat::kUyvy:
      return 2 * pixels;
    default:
      return pixels;
  }
}

std::size_t plane_size(RawFormat format, int width, int height, std::size_t stride,
                       std::size_t plane) {
  const auto lines = static_cast<std::size_t>(plane == 0 ? height : height / 2);
  const std::size_t line = stride_of(format, min_stride(format, width), plane);
  return lines == 0 ? 0 : (lines - 1) * stride_of(format, stride, plane) + line;
}

void set_planes(const unsigned char* memory, RawPicture& picture) {
  for (std::size_t i = 0; i < plane_count(picture.format); ++i) {
    picture.planes[i] = memory + offset_of(picture, i);
  }
}

std::size_t contiguous_size(const RawPicture& picture) {
  const std::size_t last = plane_count(picture.format) - 1;
  return offset_of(picture, last) +
         plane_size(picture.format, picture.width, picture.height, picture.stride, last);
}

void RawConverter::convert(const RawPicture& picture, cv::Mat& bgr) {
  if (is_subsampled(picture.format) && picture.encoding.matrix == ColorMatrix::kBt709) {
    convert_bt709(picture, bgr);
    return;
  }
  const auto only_plane = [&picture](int type) {
    return plane(picture, 0, picture.height, picture.width, type);
  };
  switch (picture.format) {
    case RawFormat::kBgr:
      only_plane(CV_8UC3).copyTo(bgr);
      break;
    case RawFormat::kRgb:
      cv::cvtColor(only_plane(CV_8UC3), bgr, cv::COLOR_RGB2BGR);
      break;
    case RawFormat::kBgrx:
      cv::cvtColor(only_plane(CV_8UC4), bgr, cv::COLOR_BGRA2BGR);
      break;
    case RawFormat::kRgb565:
      cv::cvtColor(only_plane(CV_8UC2), bgr, cv::COLOR_BGR5652BGR);
      break;
    case RawFormat::kGray:
      cv::cvtColor(only_plane(CV_8UC1), bgr, cv::COLOR_GRAY2BGR);
      break;
    case RawFormat::kYuyv:
    case RawFormat::kYvyu:
    case RawFormat::kUyvy:
      convert_packed(picture, bgr);
      break;
    default:
      convert_planes(picture, bgr);
      break;
  }
}

void RawConverter::convert_packed(const RawPicture& picture, cv::Mat& bgr) {
  static const cv::Mat yuyv_table = make_table(limited_luma, limited_chroma);
  static const cv::Mat uyvy_table = make_table(limited_chroma, limited_luma);
  const bool luma_first = picture.format != RawFormat::kUyvy;
  cv::Mat packed = plane(picture, 0, picture.height, picture.width, CV_8UC2);
  if (picture.encoding.full_range) {
    cv::LUT(packed, luma_first ? yuyv_table : uyvy_table, limited_[0]);
    packed = limited_[0];
  }
  if (picture.format == RawFormat::kYvyu) {
    cv::cvtColor(packed, bgr, cv::COLOR_YUV2BGR_YVYU);
  } else {
    cv::cvtColor(packed, bgr, luma_first ? cv::COLOR_YUV2BGR_YUY2 : cv::COLOR_YUV2BGR_UYVY);
  }
}

void RawConverter::convert_planes(const RawPicture& picture, cv::Mat& bgr) {
  static const cv::Mat luma_table = make_table(limited_luma, limited_luma);
  static const cv::Mat chroma_table = make_table(limited_chroma, limited_chroma);
  const int width = picture.width;
  const int height = picture.height;
  cv::Mat luma = plane(picture, 0, height, width, CV_8UC1);
  if (plane_count(picture.format) == 3) {
    const std::array<cv::Mat, 2> planes{plane(picture, 1, height / 2, width / 2, CV_8UC1),
                                        plane(picture, 2, height / 2, width / 2, CV_8UC1)};
    cv::merge(planes.data(), planes.size(), chroma_);
  }
  cv::Mat chroma = plane_count(picture.format) == 3
                       ? chroma_
                       : plane(picture, 1, height / 2, width / 2, CV_8UC2);
  if (picture.encoding.full_range) {
    // Two pixels at a time: the table has one entry for each channel of a pair.
    cv::LUT(plane(picture, 0, height, width / 2, CV_8UC2), luma_table, limited_[0]);
    cv::LUT(chroma, chroma_table, limited_[1]);
    luma = limited_[0].reshape(1);
    chroma = limited_[1];
  }
  const bool u_first = picture.format == RawFormat::kNv12 || picture.format == RawFormat::kI420;
  cv::cvtColorTwoPlane(luma, chroma, bgr,
                       u_first ? cv::COLOR_YUV2BGR_NV12 : cv::COLOR_YUV2BGR_NV21);
}

}  // namespace lookout
