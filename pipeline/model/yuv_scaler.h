// Scales a camera's YUV picture before it is converted: a model's picture has fewer pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <opencv2/core/types.hpp>
#include <vector>

#include "pipeline/core/raw_picture.h"
#include "pipeline/model/taps.h"

namespace lookout {

// Scales a part of a picture whose pixels share U and V. Y, U and V are blended over rows and
// columns as they are in memory; what comes out is converted to B, G, R and rounded to bytes.
//
// That is what conversion first and scaling then give, but for two things. It rounds elsewhere:
// weights of rows have 8 bits. And Y, U, V that no color has (a camera's noise beside a saturated
// color) are blended before they are limited to bytes. Each sample of U and V belongs to its two or
// four pixels, as in OpenCV's conversion.
//
// From the exact result it differs by 1.6 levels of a byte at most, and by 0.35 in the mean, on
// noise; by 0.55 and 0.26 on gradients, of which rounding to bytes is 0.5 and 0.25.
//
// Not thread-safe.
class YuvScaler {
 public:
  static constexpr int kRowsAtOnce = 8;

  // For pictures of this one's format. `crop`: in the picture. `horizontal`: relative to crop.x.
  // `vertical`: absolute rows.
  void plan(const RawPicture& picture, const cv::Rect& crop, const Taps& horizontal,
            const Taps& vertical);

  // Scales rows y .. y + kRowsAtOnce - 1 of the output. For each column the result has the bytes of
  // B of all rows, then those of G, then those of R; for rows beyond the last, any bytes. It is
  // valid until the next call.
  const std::uint8_t* scale(const RawPicture& picture, int y);

 private:
  // What is used of a plane's lines. Two pixels are a pair.
  struct Band {
    bool shared = false;    // lines of chroma, each for two lines of pixels
    std::size_t start = 0;  // bytes from the start of a line
    int size = 0;           // bytes
    int column = 0;         // where it begins in blended_
  };
  // Where a component's samples lie in blended_: column + step * sample.
  struct Component {
    int column = 0;
    int step = 0;
  };

  void blend_rows(const Band& band, const std::uint8_t* plane, std::size_t stride, int y,
                  std::uint16_t* row) const;
  void transpose();
  void blend_columns(const YuvEncoding& encoding);

  std::vector<Band> bands_;  // one for each plane
  Component luma_;
  Component u_;
  Component v_;
  Taps luma_columns_;
  Taps shared_columns_;
  Taps luma_rows_;  // with weights of a byte, whose sum is 255
  Taps shared_rows_;
  int columns_ = 0;  // of blended_, a multiple of kRowsAtOnce
  // kRowsAtOnce rows, blended over rows; the same, column by column; and the result.
  std::vector<std::uint16_t> blended_;
  std::vector<std::uint16_t> transposed_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace lookout
