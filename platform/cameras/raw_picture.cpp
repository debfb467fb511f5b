#include "platform/cameras/raw_picture.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

namespace lookout {
namespace {

// Where the samples of a format lie, and how OpenCV converts it.
struct Layout {
  int pixel_bytes;  // in the first plane
  int conversion;   // a cv::ColorConversionCodes
  // For formats whose pixels share U and V, else 0; see SampleLine.
  int luma_offset = 0;
  int luma_step = 0;
  std::size_t u_plane = 0;
  int u_offset = 0;
  std::size_t v_plane = 0;
  int v_offset = 0;
  int chroma_step = 0;
};

constexpr int kCopied = -1;  // in place of a conversion

// In the order of RawFormat. The planes of chroma are interleaved for OpenCV.
constexpr std::array<Layout, 12> kLayouts{{
    {3, kCopied},                                      // kBgr
    {3, cv::COLOR_RGB2BGR},                            // kRgb
    {4, cv::COLOR_BGRA2BGR},                           // kBgrx
    {2, cv::COLOR_BGR5652BGR},                         // kRgb565
    {1, cv::COLOR_GRAY2BGR},                           // kGray
    {2, cv::COLOR_YUV2BGR_YUY2, 0, 2, 0, 1, 0, 3, 4},  // kYuyv
    {2, cv::COLOR_YUV2BGR_YVYU, 0, 2, 0, 3, 0, 1, 4},  // kYvyu
    {2, cv::COLOR_YUV2BGR_UYVY, 1, 2, 0, 0, 0, 2, 4},  // kUyvy
    {1, cv::COLOR_YUV2BGR_NV12, 0, 1, 1, 0, 1, 1, 2},  // kNv12
    {1, cv::COLOR_YUV2BGR_NV21, 0, 1, 1, 1, 1, 0, 2},  // kNv21
    {1, cv::COLOR_YUV2BGR_NV12, 0, 1, 1, 0, 2, 0, 1},  // kI420
    {1, cv::COLOR_YUV2BGR_NV21, 0, 1, 2, 0, 1, 0, 1},  // kYv12
}};

const Layout& layout_of(RawFormat format) { return kLayouts.at(static_cast<std::size_t>(format)); }

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

constexpr int kShift = 14;  // of fixed-point numbers
constexpr int kHalf = 1 << (kShift - 1);

// ITU-R BT.709-6, item 3.2: the shares of red, green and blue in luma.
constexpr double kRedWeight = 0.2126;
constexpr double kBlueWeight = 0.0722;
constexpr double kGreenWeight = 1 - kRedWeight - kBlueWeight;

constexpr int fixed(double value) {
  return static_cast<int>(value * (1 << kShift) + (value < 0 ? -0.5 : 0.5));
}

struct Coefficients {
  int black;  // luma of black
  int luma;
  int red_of_v;
  int green_of_u;
  int green_of_v;
  int blue_of_u;
};

constexpr Coefficients make_coefficients(int black, double luma_range, double chroma_range) {
  const double chroma = 255 / chroma_range;
  return {black,
          fixed(255 / luma_range),
          fixed(2 * (1 - kRedWeight) * chroma),
          fixed(-2 * (1 - kBlueWeight) * kBlueWeight / kGreenWeight * chroma),
          fixed(-2 * (1 - kRedWeight) * kRedWeight / kGreenWeight * chroma),
          fixed(2 * (1 - kBlueWeight) * chroma)};
}

constexpr Coefficients kLimited = make_coefficients(16, 219, 224);
constexpr Coefficients kFull = make_coefficients(0, 255, 255);

unsigned char to_byte(int value) {
  return static_cast<unsigned char>(std::clamp(value >> kShift, 0, 255));
}

// `LumaStep`, `ChromaStep`: bytes from a sample to the next. Templates, so that the compiler can
// use vector instructions.
template <int LumaStep, int ChromaStep>
void convert_line(const SampleLine& line, int width, const Coefficients& c, unsigned char* bgr) {
  for (int pair = 0; pair < width / 2; ++pair) {
    const int u = line.u[pair * ChromaStep] - 128;
    const int v = line.v[pair * ChromaStep] - 128;
    const int blue = c.blue_of_u * u + kHalf;
    const int green = c.green_of_u * u + c.green_of_v * v + kHalf;
    const int red = c.red_of_v * v + kHalf;
    for (int i = 0; i < 2; ++i) {
      const int luma = (line.luma[(2 * pair + i) * LumaStep] - c.black) * c.luma;
      unsigned char* pixel = bgr + 3 * (2 * pair + i);
      pixel[0] = to_byte(luma + blue);
      pixel[1] = to_byte(luma + green);
      pixel[2] = to_byte(luma + red);
    }
  }
}

void convert_bt709(const RawPicture& picture, cv::Mat& bgr) {
  bgr.create(picture.height, picture.width, CV_8UC3);
  const Coefficients& coefficients = picture.encoding.full_range ? kFull : kLimited;
  for (int y = 0; y < picture.height; ++y) {
    const SampleLine line = sample_line(picture, y);
    const auto convert = line.luma_step == 2     ? convert_line<2, 4>
                         : line.chroma_step == 2 ? convert_line<1, 2>
                                                 : convert_line<1, 1>;
    convert(line, picture.width, coefficients, bgr.ptr(y));
  }
}

}  // namespace

std::size_t plane_count(RawFormat format) {
  return std::max(layout_of(format).u_plane, layout_of(format).v_plane) + 1;
}

bool is_subsampled(RawFormat format) { return layout_of(format).chroma_step > 0; }

std::size_t min_stride(RawFormat format, int width) {
  return static_cast<std::size_t>(layout_of(format).pixel_bytes) * static_cast<std::size_t>(width);
}

std::size_t plane_stride(const RawPicture& picture, std::size_t plane) {
  return stride_of(picture.format, picture.stride, plane);
}

SampleLine sample_line(const RawPicture& picture, int y) {
  const Layout& layout = layout_of(picture.format);
  const auto line = [&](std::size_t plane) {
    const auto number = static_cast<std::size_t>(plane == 0 ? y : y / 2);
    return picture.planes.at(plane) + number * plane_stride(picture, plane);
  };
  return {line(0) + layout.luma_offset, line(layout.u_plane) + layout.u_offset,
          line(layout.v_plane) + layout.v_offset, layout.luma_step, layout.chroma_step};
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
  const Layout& layout = layout_of(picture.format);
  if (plane_count(picture.format) > 1) return convert_planes(picture, bgr);
  if (is_subsampled(picture.format)) return convert_packed(picture, bgr);
  const cv::Mat pixels =
      plane(picture, 0, picture.height, picture.width, CV_8UC(layout.pixel_bytes));
  if (layout.conversion == kCopied) {
    pixels.copyTo(bgr);
  } else {
    cv::cvtColor(pixels, bgr, layout.conversion);
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
  cv::cvtColor(packed, bgr, layout_of(picture.format).conversion);
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
  cv::cvtColorTwoPlane(luma, chroma, bgr, layout_of(picture.format).conversion);
}

}  // namespace lookout
