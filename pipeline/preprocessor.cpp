#include "pipeline/preprocessor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>

#include "pipeline/error.h"

namespace lookout {
namespace {

// Fixed point: a weight has kWeightBits of fraction, a row blended over rows kRowBits. A byte times
// the sum of weights, and a blended value times it, fit 31 bits.
constexpr int kWeightBits = 14;
constexpr int kRowBits = 7;
constexpr int kOne = 1 << kWeightBits;

int round_half_up(double value) { return static_cast<int>(std::floor(value + 0.5)); }

// The part of `area` that the mode looks at.
cv::Rect crop_for(ResizeMode mode, const cv::Rect& area, const cv::Size& output) {
  if (mode != ResizeMode::kCenterSquare) return area;
  const double aspect = static_cast<double>(output.width) / output.height;
  int width = area.width;
  int height = area.height;
  if (static_cast<std::int64_t>(width) * output.height >
      static_cast<std::int64_t>(height) * output.width) {
    width = std::max(1, round_half_up(height * aspect));
  } else {
    height = std::max(1, round_half_up(width / aspect));
  }
  return {area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height};
}

// How large the crop becomes within the output.
cv::Size scaled_size(ResizeMode mode, const cv::Size& crop, const cv::Size& output) {
  if (mode != ResizeMode::kLetterbox) return output;
  const double scale = std::min(static_cast<double>(output.width) / crop.width,
                                static_cast<double>(output.height) / crop.height);
  return {std::max(1, round_half_up(crop.width * scale)),
          std::max(1, round_half_up(crop.height * scale))};
}

cv::Rect roi_in_pixels(const cv::Rect2d& roi, const cv::Size& picture) {
  const int left = std::min(round_half_up(roi.x * picture.width), picture.width - 1);
  const int top = std::min(round_half_up(roi.y * picture.height), picture.height - 1);
  const int right = round_half_up((roi.x + roi.width) * picture.width);
  const int bottom = round_half_up((roi.y + roi.height) * picture.height);
  const cv::Rect area(left, top, std::max(1, right - left), std::max(1, bottom - top));
  return area & cv::Rect(0, 0, picture.width, picture.height);
}

// The rectangle of the frame that becomes `area` of the picture when the frame is turned by
// view.rotation and then mirrored.
cv::Rect unturn(const View& view, cv::Rect area, const cv::Size& picture) {
  if (view.hflip) area.x = picture.width - area.x - area.width;
  if (view.vflip) area.y = picture.height - area.y - area.height;
  switch (view.rotation) {
    case 90:
      return {area.y, picture.width - area.x - area.width, area.height, area.width};
    case 180:
      return {picture.width - area.x - area.width, picture.height - area.y - area.height,
              area.width, area.height};
    case 270:
      return {picture.height - area.y - area.height, area.x, area.height, area.width};
    default:
      return area;
  }
}

}  // namespace

cv::Size useful_size(const InputSpec& spec, const View& view) {
  const cv::Size turned(static_cast<int>(std::ceil(spec.width / view.roi.width)),
                        static_cast<int>(std::ceil(spec.height / view.roi.height)));
  const bool quarter_turn = view.rotation == 90 || view.rotation == 270;
  return quarter_turn ? cv::Size(turned.height, turned.width) : turned;
}

Preprocessor::Preprocessor(const InputSpec& spec, const View& view) : spec_(spec), view_(view) {
  for (std::size_t bgr = 0; bgr < 3; ++bgr) {
    const std::size_t channel = spec.channel_order == ChannelOrder::kBgr ? bgr : 2 - bgr;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      // In float and in this order, as torchvision computes it, so that the values are equal.
      const float scaled = static_cast<float>(byte) / 255.0F;
      table_[bgr][byte] = (scaled - spec.mean[channel]) / spec.std[channel];
    }
  }
}

// Triangle filter, as wide as the reduction: Pillow's BILINEAR with its antialiasing,
// https://pillow.readthedocs.io/en/stable/handbook/concepts.html#filters. Pixels outside of the
// crop do not count.
Preprocessor::Taps Preprocessor::make_taps(int crop_start, int crop_size, int output_size) {
  Taps taps;
  const double scale = static_cast<double>(crop_size) / output_size;
  const double support = std::max(scale, 1.0);
  std::vector<double> exact;
  for (int i = 0; i < output_size; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, round_half_up(center - support));
    const int last = std::min(crop_size, round_half_up(center + support));
    exact.clear();
    double sum = 0;
    for (int p = first; p < last; ++p) {
      exact.push_back(std::max(0.0, 1.0 - std::abs((p + 0.5 - center) / support)));
      sum += exact.back();
    }
    Taps::Span span{crop_start + first, last - first, static_cast<int>(taps.weights.size())};
    // Weights sum to one exactly, so that an even area keeps its value: the largest takes the rest.
    int rest = kOne;
    std::size_t largest = taps.weights.size();
    for (const double weight : exact) {
      const int fixed = round_half_up(weight / sum * kOne);
      rest -= fixed;
      taps.weights.push_back(fixed);
      if (fixed > taps.weights[largest]) largest = taps.weights.size() - 1;
    }
    taps.weights[largest] += rest;
    taps.spans.push_back(span);
  }
  return taps;
}

void Preprocessor::plan(const cv::Size& frame) {
  const bool quarter_turn = view_.rotation == 90 || view_.rotation == 270;
  const cv::Size picture = quarter_turn ? cv::Size(frame.height, frame.width) : frame;
  const cv::Size output(spec_.width, spec_.height);
  const cv::Rect crop = crop_for(spec_.resize, roi_in_pixels(view_.roi, picture), output);
  const cv::Size scaled = scaled_size(spec_.resize, crop.size(), output);

  crop_ = unturn(view_, crop, picture);
  scaled_ = quarter_turn ? cv::Size(scaled.height, scaled.width) : scaled;
  horizontal_ = make_taps(0, crop_.width, scaled_.width);
  vertical_ = make_taps(crop_.y, crop_.height, scaled_.height);
  padded_ = scaled != output;
  unscaled_ = scaled == crop.size();
  sums_.resize(static_cast<std::size_t>(crop_.width) * 3);
  row_.resize(sums_.size());

  // Where the first column and row of the frame's crop go, and which way the next ones lie. A turn
  // by 90 degrees clockwise makes the first row the last column, read downwards.
  const std::ptrdiff_t right = 3;
  const std::ptrdiff_t down = 3 * static_cast<std::ptrdiff_t>(output.width);
  bool mirror_x = view_.hflip;
  bool mirror_y = view_.vflip;
  switch (view_.rotation) {
    case 90:
      mirror_x = !mirror_x;
      break;
    case 180:
      mirror_x = !mirror_x;
      mirror_y = !mirror_y;
      break;
    case 270:
      mirror_y = !mirror_y;
      break;
    default:
      break;
  }
  const std::ptrdiff_t step_x = mirror_x ? -right : right;
  const std::ptrdiff_t step_y = mirror_y ? -down : down;
  column_stride_ = quarter_turn ? step_y : step_x;
  row_stride_ = quarter_turn ? step_x : step_y;
  const int left = (output.width - scaled.width) / 2;
  const int top = (output.height - scaled.height) / 2;
  origin_ = (mirror_x ? left + scaled.width - 1 : left) * right +
            (mirror_y ? top + scaled.height - 1 : top) * down;
  planned_ = frame;
}

// Leaves in row_ the weighted sum of the rows of a span.
void Preprocessor::blend_rows(const cv::Mat& bgr, const Taps::Span& span) {
  const std::size_t n = sums_.size();
  const int* weights = &vertical_.weights[static_cast<std::size_t>(span.offset)];
  int* sums = sums_.data();
  for (int tap = 0; tap < span.count; ++tap) {
    const std::uint8_t* in = bgr.ptr<std::uint8_t>(span.first + tap) + crop_.x * 3;
    const int weight = weights[tap];
    if (tap == 0) {
      for (std::size_t i = 0; i < n; ++i) sums[i] = weight * in[i];
    } else {
      for (std::size_t i = 0; i < n; ++i) sums[i] += weight * in[i];
    }
  }
  constexpr int kShift = kWeightBits - kRowBits;
  std::uint16_t* row = row_.data();
  for (std::size_t i = 0; i < n; ++i) {
    row[i] = static_cast<std::uint16_t>((sums[i] + (1 << (kShift - 1))) >> kShift);
  }
}

// Blends row_ over columns, rounds to bytes and writes their values.
void Preprocessor::write_row(float* out) const {
  constexpr int kShift = kWeightBits + kRowBits;
  for (const Taps::Span& span : horizontal_.spans) {
    const int* weights = &horizontal_.weights[static_cast<std::size_t>(span.offset)];
    const std::uint16_t* in = &row_[static_cast<std::size_t>(span.first) * 3];
    int b = 1 << (kShift - 1);
    int g = b;
    int r = b;
    for (int tap = 0; tap < span.count; ++tap, in += 3) {
      b += weights[tap] * in[0];
      g += weights[tap] * in[1];
      r += weights[tap] * in[2];
    }
    write_pixel(static_cast<std::size_t>(b >> kShift), static_cast<std::size_t>(g >> kShift),
                static_cast<std::size_t>(r >> kShift), out);
    out += column_stride_;
  }
}

// The same of a row that has the output's size: cameras behind an image processor give that.
void Preprocessor::write_unscaled_row(const std::uint8_t* bgr, float* out) const {
  for (int x = 0; x < scaled_.width; ++x, bgr += 3, out += column_stride_) {
    write_pixel(bgr[0], bgr[1], bgr[2], out);
  }
}

void Preprocessor::write_pixel(std::size_t b, std::size_t g, std::size_t r, float* out) const {
  const bool rgb = spec_.channel_order == ChannelOrder::kRgb;
  out[rgb ? 2 : 0] = table_[0][b];
  out[1] = table_[1][g];
  out[rgb ? 0 : 2] = table_[2][r];
}

void Preprocessor::run(const cv::Mat& bgr, ImageTensor& out) {
  if (bgr.empty() || bgr.type() != CV_8UC3) {
    throw Error(ErrorKind::kInternal, "the preprocessor got a picture that is not 8-bit BGR (" +
                                          cv::typeToString(bgr.type()) + ")");
  }
  if (bgr.size() != planned_) plan(bgr.size());
  out.width = spec_.width;
  out.height = spec_.height;
  out.values.resize(static_cast<std::size_t>(spec_.width) * static_cast<std::size_t>(spec_.height) *
                    3);
  if (padded_) std::fill(out.values.begin(), out.values.end(), 0.0F);
  float* row = out.values.data() + origin_;
  if (unscaled_) {
    for (int y = 0; y < scaled_.height; ++y, row += row_stride_) {
      write_unscaled_row(bgr.ptr<std::uint8_t>(crop_.y + y) + crop_.x * 3, row);
    }
    return;
  }
  for (const Taps::Span& span : vertical_.spans) {
    blend_rows(bgr, span);
    write_row(row);
    row += row_stride_;
  }
}

}  // namespace lookout
