#include "platform/cameras/raw_converter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <opencv2/imgproc.hpp>

namespace lookout {
namespace {

constexpr int kCopied = -1;  // in place of a conversion

// How OpenCV converts a format: a cv::ColorConversionCodes. In the order of RawFormat. The planes
// of chroma are interleaved for OpenCV.
constexpr std::array<int, 12> kConversions{{
    kCopied,                 // kBgr
    cv::COLOR_RGB2BGR,       // kRgb
    cv::COLOR_BGRA2BGR,      // kBgrx
    cv::COLOR_BGR5652BGR,    // kRgb565
    cv::COLOR_GRAY2BGR,      // kGray
    cv::COLOR_YUV2BGR_YUY2,  // kYuyv
    cv::COLOR_YUV2BGR_YVYU,  // kYvyu
    cv::COLOR_YUV2BGR_UYVY,  // kUyvy
    cv::COLOR_YUV2BGR_NV12,  // kNv12
    cv::COLOR_YUV2BGR_NV21,  // kNv21
    cv::COLOR_YUV2BGR_NV12,  // kI420
    cv::COLOR_YUV2BGR_NV21,  // kYv12
}};

int conversion_of(RawFormat format) { return kConversions.at(static_cast<std::size_t>(format)); }

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
// A header of one plane. OpenCV only reads it, although its type allows writing.
cv::Mat plane(const RawPicture& picture, std::size_t index, int height, int width, int type) {
  auto* data = const_cast<unsigned char*>(picture.planes[index]);
  return {height, width, type, data, plane_stride(picture, index)};
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

void take_picture(const RawPicture& picture, Frame& frame) {
  if (!is_subsampled(picture.format)) {
    frame.picture.begin(CameraPicture::Kind::kNone, nullptr);
    RawConverter().convert(picture, frame.bgr);
    return;
  }
  CameraPicture& taken = frame.picture;
  taken.begin(CameraPicture::Kind::kRaw,
              [](const CameraPicture& raw, int /*eighths*/, cv::Mat& bgr) {
                RawConverter().convert(raw.raw(), bgr);
                return true;
              });
  taken.layout = picture;
  taken.layout.lines = picture.height;
  taken.bytes.resize(contiguous_size(taken.layout));
  RawPicture copy = taken.raw();
  for (std::size_t i = 0; i < plane_count(picture.format); ++i) {
    const auto* const from = picture.planes[i];
    const std::size_t size =
        plane_size(picture.format, picture.width, picture.height, picture.stride, i);
    std::copy(from, from + size, taken.bytes.data() + (copy.planes[i] - taken.bytes.data()));
  }
}

void RawConverter::convert(const RawPicture& picture, cv::Mat& bgr) {
  if (is_subsampled(picture.format) && picture.encoding.matrix == ColorMatrix::kBt709) {
    convert_bt709(picture, bgr);
    return;
  }
  if (plane_count(picture.format) > 1) return convert_planes(picture, bgr);
  if (is_subsampled(picture.format)) return convert_packed(picture, bgr);
  const auto pixel_bytes = static_cast<int>(min_stride(picture.format, 1));
  const cv::Mat pixels = plane(picture, 0, picture.height, picture.width, CV_8UC(pixel_bytes));
  const int conversion = conversion_of(picture.format);
  if (conversion == kCopied) {
    pixels.copyTo(bgr);
  } else {
    cv::cvtColor(pixels, bgr, conversion);
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
  cv::cvtColor(packed, bgr, conversion_of(picture.format));
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
  cv::cvtColorTwoPlane(luma, chroma, bgr, conversion_of(picture.format));
}

}  // namespace lookout
