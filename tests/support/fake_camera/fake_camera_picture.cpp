#include "tests/support/fake_camera/fake_camera_picture.h"

#include <algorithm>
#include <opencv2/imgcodecs.hpp>

#include "platform/sources/test_pattern.h"

namespace lookout {
namespace {

// The shares of red and blue in luma.
struct Shares {
  double red;
  double blue;
};
constexpr Shares kBt601{0.299, 0.114};
constexpr Shares kBt709{0.2126, 0.0722};

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

// OpenCV converts the other way only.
Bytes yuyv_of(const cv::Mat& bgr, std::size_t stride, const Shares& shares, bool full_range) {
  const double black = full_range ? 0 : 16;
  const double luma_range = full_range ? 255 : 219;
  const double chroma_range = full_range ? 255 : 224;
  Bytes yuyv;
  yuyv.reserve(stride * static_cast<std::size_t>(bgr.rows));
  for (int y = 0; y < bgr.rows; ++y) {
    for (int x = 0; x < bgr.cols; ++x) {
      const auto& pixel = bgr.at<cv::Vec3b>(y, x);
      const double blue = pixel[0] / 255.0;
      const double red = pixel[2] / 255.0;
      const double luma =
          shares.red * red + shares.blue * blue + (1 - shares.red - shares.blue) * pixel[1] / 255.0;
      const double u = (blue - luma) / (2 * (1 - shares.blue));
      const double v = (red - luma) / (2 * (1 - shares.red));
      yuyv.push_back(to_byte(black + luma_range * luma));
      yuyv.push_back(to_byte(128 + chroma_range * (x % 2 == 0 ? u : v)));
    }
    yuyv.resize(stride * static_cast<std::size_t>(y + 1));
  }
  return yuyv;
}

}  // namespace

Bytes draw_bars(const v4l2_pix_format& format, bool full_range, unsigned noise) {
  cv::Mat bgr(static_cast<int>(format.height), static_cast<int>(format.width), CV_8UC3);
  draw_pattern(Pattern::kColorBars, bgr);
  cv::Mat levels(bgr.size(), CV_8UC3);
  cv::RNG(noise).fill(levels, cv::RNG::UNIFORM, 0, 2);
  bgr ^= levels;
  if (format.pixelformat == V4L2_PIX_FMT_YUYV) {
    const bool hd = format.colorspace == V4L2_COLORSPACE_REC709;
    return yuyv_of(bgr, format.bytesperline, hd ? kBt709 : kBt601, full_range);
  }
  Bytes jpeg;
  cv::imencode(".jpg", bgr, jpeg);
  return jpeg;
}

}  // namespace lookout
