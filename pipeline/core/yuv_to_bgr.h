// From Y, U, V to B, G, R, eight pixels at a time, by OpenCV's universal intrinsics.
#pragma once

#include <array>
#include <cmath>
#include <opencv2/core/hal/intrin.hpp>
#include <opencv2/core/version.hpp>

#include "pipeline/core/raw_picture.h"

namespace lookout {

// OpenCV 4.9 has this as a function, and later none of the operators that earlier ones have.
template <typename Vector>
Vector sum_of(const Vector& a, const Vector& b) {
#if CV_VERSION_MAJOR == 4 && CV_VERSION_MINOR < 9
  return a + b;
#else
  return cv::v_add(a, b);
#endif
}

// One set of coefficients for each matrix and range. Any thread may use it.
class YuvToBgr {
 public:
  // Bits of fraction of what goes in and what comes out. The largest byte fits 16 bits with sign.
  static constexpr int kBits = 7;

  struct Bgr {
    cv::v_int16x8 b;
    cv::v_int16x8 g;
    cv::v_int16x8 r;
  };

  // `level`: what stands for one level of Y, U and V, at most 1 << kBits.
  YuvToBgr(const YuvEncoding& encoding, double level) {
    // ITU-R BT.601-7, item 2.5.1, and BT.709-6, item 3.2: the shares of red and blue in luma.
    const bool bt709 = encoding.matrix == ColorMatrix::kBt709;
    const double red = bt709 ? 0.2126 : 0.299;
    const double blue = bt709 ? 0.0722 : 0.114;
    const double green = 1 - red - blue;
    // Item 2.5.3 of the first, 3.4 of the second: the ranges of Y and of U, V.
    const double luma = 255.0 / (encoding.full_range ? 255 : 219);
    const double chroma = 2 * 255.0 / (encoding.full_range ? 255 : 224);
    const auto fixed = [level](double value) {
      const double one = (1 << kBits) / level * (1 << kCoefficientBits);
      return cv::v_setall_s16(static_cast<short>(std::lround(value * one)));
    };
    luma_ = fixed(luma);
    red_of_v_ = fixed((1 - red) * chroma);
    green_of_u_ = fixed(-(1 - blue) * blue / green * chroma);
    green_of_v_ = fixed(-(1 - red) * red / green * chroma);
    blue_of_u_ = fixed((1 - blue) * chroma);
    black_ = cv::v_setall_s16(static_cast<short>(encoding.full_range ? 0 : 16 * level));
    gray_ = cv::v_setall_s16(static_cast<short>(128 * level));
  }

  // Values outside of a byte's range are kept, or become the largest there are.
  Bgr convert(const cv::v_int16x8& y, const cv::v_int16x8& u, const cv::v_int16x8& v) const {
    const cv::v_int16x8 blueness = cv::v_sub_wrap(u, gray_);
    const cv::v_int16x8 redness = cv::v_sub_wrap(v, gray_);
    Products luma;
    cv::v_mul_expand(cv::v_sub_wrap(y, black_), luma_, luma[0], luma[1]);
    const Products green = add(luma, blueness, green_of_u_);
    return {pack(add(luma, blueness, blue_of_u_)), pack(add(green, redness, green_of_v_)),
            pack(add(luma, redness, red_of_v_))};
  }

 private:
  // The largest coefficient is 2.13.
  static constexpr int kCoefficientBits = 13;

  using Products = std::array<cv::v_int32x4, 2>;

  static Products add(const Products& sums, const cv::v_int16x8& values,
                      const cv::v_int16x8& coefficient) {
    Products products;
    cv::v_mul_expand(values, coefficient, products[0], products[1]);
    return {sum_of(sums[0], products[0]), sum_of(sums[1], products[1])};
  }

  static cv::v_int16x8 pack(const Products& sums) {
    return cv::v_rshr_pack<kCoefficientBits>(sums[0], sums[1]);
  }

  cv::v_int16x8 luma_;
  cv::v_int16x8 red_of_v_;
  cv::v_int16x8 green_of_u_;
  cv::v_int16x8 green_of_v_;
  cv::v_int16x8 blue_of_u_;
  cv::v_int16x8 black_;
  cv::v_int16x8 gray_;
};

}  // namespace lookout
