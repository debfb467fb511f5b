#include "pipeline/model/preprocessor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/core/hal/intrin.hpp>
#include <opencv2/core/mat.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/yuv_to_bgr.h"

namespace lookout {
namespace {

// Fixed point: a weight has kWeightBits of fraction, a row blended over rows kRowBits; both fit 16
// bits with sign. A byte times the sum of weights, and a blended value times it, fit 31 bits.
constexpr int kWeightBits = Taps::kWeightBits;
constexpr int kRowBits = 7;
constexpr int kMinReducedLines = 240;

bool is_quarter_turn(const View& view) { return view.rotation == 90 || view.rotation == 270; }

// The same for both directions.
cv::Size turned(const View& view, const cv::Size& size) {
  return is_quarter_turn(view) ? cv::Size(size.height, size.width) : size;
}

// The part of `area` that the mode uses.
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

// The crop's size within the output.
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

// Where the first pixel of a scaled crop lies on an axis of the output, and the step to the next.
struct Placement {
  int first = 0;
  int step = 1;
};

// `scaled` pixels in the middle of `output`. `mirror`: of the view. `flip`: of the model, which
// comes after the padding; the padding may be one pixel wider at the end.
Placement place(int scaled, int output, bool mirror, bool flip) {
  const int padding = output - scaled;
  const int start = flip ? padding - padding / 2 : padding / 2;
  return mirror != flip ? Placement{start + scaled - 1, -1} : Placement{start, 1};
}

// Adds `values` times `weight`: 16 bytes to 16 sums.
void add_weighted(const cv::v_uint8x16& values, const cv::v_int16x8& weight,
                  std::array<cv::v_int32x4, 4>& sums) {
  cv::v_uint16x8 low;
  cv::v_uint16x8 high;
  cv::v_expand(values, low, high);
  std::array<cv::v_int32x4, 4> products;
  cv::v_mul_expand(cv::v_reinterpret_as_s16(low), weight, products[0], products[1]);
  cv::v_mul_expand(cv::v_reinterpret_as_s16(high), weight, products[2], products[3]);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum_of(sums[i], products[i]);
}

// The same for the first 4 of 8 values.
void add_weighted_low(const cv::v_int16x8& values, const cv::v_int16x8& weight,
                      cv::v_int32x4& sums) {
  cv::v_int32x4 products;
  cv::v_int32x4 unused;
  cv::v_mul_expand(values, weight, products, unused);
  sums = sum_of(sums, products);
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

// What is classified of the turned and mirrored picture.
cv::Rect crop_of(const InputSpec& spec, const View& view, const cv::Size& picture) {
  const cv::Size output(spec.width, spec.height);
  return crop_for(spec.resize, roi_in_pixels(view.roi, picture), output);
}

}  // namespace

cv::Size useful_size(const InputSpec& spec, const View& view) {
  const auto side = [](int needed, double fraction) {
    return static_cast<int>(std::min<double>(kMaxFrameSide, std::ceil(needed / fraction)));
  };
  return turned(view, {side(spec.width, view.roi.width), side(spec.height, view.roi.height)});
}

cv::Size reducible_size(const InputSpec& spec, const View& view) {
  InputSpec enlarged = spec;
  const int lines = std::min(spec.width, spec.height);
  if (lines < kMinReducedLines) {
    enlarged.width = (spec.width * kMinReducedLines + lines - 1) / lines;
    enlarged.height = (spec.height * kMinReducedLines + lines - 1) / lines;
  }
  return useful_size(enlarged, view);
}

cv::Rect classified_region(const InputSpec& spec, const View& view, const cv::Size& frame) {
  const cv::Size picture = turned(view, frame);
  return unturn(view, crop_of(spec, view, picture), picture);
}

Preprocessor::Preprocessor(const InputSpec& spec, const View& view) : spec_(spec), view_(view) {
  for (std::size_t bgr = 0; bgr < 3; ++bgr) {
    const std::size_t channel = spec.channel_order == ChannelOrder::kBgr ? bgr : 2 - bgr;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      // In float and in this order, as torchvision computes it, so that the values are equal.
      const float scaled = static_cast<float>(byte) / 255.0F;
      const float value = (scaled - spec.mean[channel]) / spec.std[channel];
      values_[bgr][byte] = value;
      if (spec.quantization) bytes_[bgr][byte] = spec.quantization->quantize(value);
    }
  }
}

void Preprocessor::plan(const cv::Size& frame) {
  const cv::Size output(spec_.width, spec_.height);
  const cv::Rect crop = crop_of(spec_, view_, turned(view_, frame));
  const cv::Size scaled = scaled_size(spec_.resize, crop.size(), output);

  crop_ = classified_region(spec_, view_, frame);
  scaled_ = turned(view_, scaled);
  horizontal_ = make_taps(0, crop_.width, scaled_.width);
  vertical_ = make_taps(crop_.y, crop_.height, scaled_.height);
  padded_ = scaled != output;
  unscaled_ = scaled == crop.size();
  blended_stride_ = crop_.width * 3 + 1;
  blended_.resize(static_cast<std::size_t>(blended_stride_) * kRowsAtOnce);

  plan_output(scaled, output);
  planned_ = frame;
  yuv_format_.reset();
}

// `scaled`: the crop's size in the output, turned as the picture.
void Preprocessor::plan_output(const cv::Size& scaled, const cv::Size& output) {
  // A turn by 90 degrees clockwise makes the frame's first row the last column, read downwards.
  const int rotation = view_.rotation;
  const bool mirror_x = view_.hflip != (rotation == 90 || rotation == 180);
  const bool mirror_y = view_.vflip != (rotation == 180 || rotation == 270);
  const Placement x = place(scaled.width, output.width, mirror_x, spec_.flip_x);
  const Placement y = place(scaled.height, output.height, mirror_y, spec_.flip_y);
  const bool planar = spec_.layout == TensorLayout::kPlanar;
  const std::ptrdiff_t right = planar ? 1 : 3;
  const std::ptrdiff_t down = right * output.width;
  column_stride_ = is_quarter_turn(view_) ? y.step * down : x.step * right;
  row_stride_ = is_quarter_turn(view_) ? x.step * right : y.step * down;
  origin_ = x.first * right + y.first * down;
  const std::ptrdiff_t channel = planar ? down * output.height : 1;
  channels_ = {0, channel, 2 * channel};
  if (spec_.channel_order == ChannelOrder::kRgb) std::swap(channels_[0], channels_[2]);
}

// Fetches what span y + 1 needs beyond span y into the cache, row by row, while span y is blended.
// Frames come from another thread's core, and blend_rows() takes a few bytes of each row in turn,
// which the processor does not foresee.
void Preprocessor::fetch_rows(const cv::Mat& bgr, int y) const {
  constexpr int kCacheLine = 64;  // bytes
  if (y + 1 >= scaled_.height) return;
  const Taps::Span* span = vertical_.spans.data() + y;
  const int end = span[1].first + span[1].count;
  for (int row = span[0].first + span[0].count; row < end; ++row) {
    const std::uint8_t* pixels = bgr.ptr<std::uint8_t>(row) + crop_.x * 3;
    for (int i = 0; i < crop_.width * 3; i += kCacheLine) __builtin_prefetch(pixels + i);
  }
}

// Leaves in `row` the weighted sum of the rows of a span.
void Preprocessor::blend_rows(const cv::Mat& bgr, const Taps::Span& span, std::int16_t* row) const {
  constexpr int kShift = kWeightBits - kRowBits;
  constexpr int kBlock = 16;
  const int size = crop_.width * 3;
  const std::int16_t* weights = vertical_.weights.data() + span.offset;
  const std::uint8_t* top = bgr.ptr<std::uint8_t>(span.first) + crop_.x * 3;
  int i = 0;
  for (; i + kBlock <= size; i += kBlock) {
    std::array<cv::v_int32x4, 4> sums;
    sums.fill(cv::v_setzero_s32());
    const std::uint8_t* in = top + i;
    for (int tap = 0; tap < span.count; ++tap, in += bgr.step) {
      add_weighted(cv::v_load(in), cv::v_setall_s16(weights[tap]), sums);
    }
    cv::v_store(row + i, cv::v_rshr_pack<kShift>(sums[0], sums[1]));
    cv::v_store(row + i + kBlock / 2, cv::v_rshr_pack<kShift>(sums[2], sums[3]));
  }
  for (; i < size; ++i) {
    int sum = 1 << (kShift - 1);
    const std::uint8_t* in = top + i;
    for (int tap = 0; tap < span.count; ++tap, in += bgr.step) sum += weights[tap] * *in;
    row[i] = static_cast<std::int16_t>(sum >> kShift);
  }
}

// Below, values that are constant for a row are copied into locals: writes through std::uint8_t*
// may alias members.

// Blends `rows` rows of blended_ over columns, rounds to bytes and writes the table's values for
// them. Rows share the work for a span: a vector holds B, G, R of one pixel and one value that is
// not used.
template <typename Value>
void Preprocessor::write_rows(int rows, const Table<Value>& table, Value* out) const {
  constexpr int kShift = kWeightBits + kRowBits;
  const Channels channels = channels_;
  const std::ptrdiff_t column_stride = column_stride_;
  const std::ptrdiff_t row_stride = row_stride_;
  const std::int16_t* all_weights = horizontal_.weights.data();
  const std::int16_t* blended = blended_.data();
  const std::ptrdiff_t blended_stride = blended_stride_;
  for (const Taps::Span& span : horizontal_.spans) {
    const std::int16_t* weights = all_weights + span.offset;
    const std::int16_t* in = blended + static_cast<std::ptrdiff_t>(span.first) * 3;
    const int count = span.count;
    std::array<cv::v_int32x4, kRowsAtOnce> sums;
    sums.fill(cv::v_setall_s32(1 << (kShift - 1)));
    for (int tap = 0; tap < count; ++tap, in += 3) {
      const cv::v_int16x8 weight = cv::v_setall_s16(weights[tap]);
      for (int row = 0; row < kRowsAtOnce; ++row) {
        add_weighted_low(cv::v_load_low(in + row * blended_stride), weight, sums[row]);
      }
    }
    for (int row = 0; row < kRowsAtOnce; ++row) {
      if (row >= rows) break;
      std::array<int, 4> bgr{};
      cv::v_store(bgr.data(), cv::v_shr<kShift>(sums[row]));
      write_pixel(table, channels, static_cast<std::size_t>(bgr[0]),
                  static_cast<std::size_t>(bgr[1]), static_cast<std::size_t>(bgr[2]),
                  out + row * row_stride);
    }
    out += column_stride;
  }
}

// The same for a row that has the output's size already: an image processor may scale for us.
template <typename Value>
void Preprocessor::write_unscaled_row(const std::uint8_t* bgr, const Table<Value>& table,
                                      Value* out) const {
  const Channels channels = channels_;
  const std::ptrdiff_t stride = column_stride_;
  const int width = scaled_.width;
  for (int x = 0; x < width; ++x, bgr += 3, out += stride) {
    write_pixel(table, channels, bgr[0], bgr[1], bgr[2], out);
  }
}

template <typename Value>
void Preprocessor::write_pixel(const Table<Value>& table, const Channels& channels, std::size_t b,
                               std::size_t g, std::size_t r, Value* out) {
  out[channels[0]] = table[0][b];
  out[channels[1]] = table[1][g];
  out[channels[2]] = table[2][r];
}

template <typename Value>
void Preprocessor::write_rows_of(const cv::Mat& bgr, const Table<Value>& table, Value* out) {
  if (unscaled_) {
    for (int y = 0; y < scaled_.height; ++y, out += row_stride_) {
      write_unscaled_row(bgr.ptr<std::uint8_t>(crop_.y + y) + crop_.x * 3, table, out);
    }
    return;
  }
  const Taps::Span* spans = vertical_.spans.data();
  for (int y = 0; y < scaled_.height; y += kRowsAtOnce, out += row_stride_ * kRowsAtOnce) {
    const int rows = std::min(kRowsAtOnce, scaled_.height - y);
    std::int16_t* blended = blended_.data();
    for (int i = 0; i < rows; ++i, blended += blended_stride_) {
      fetch_rows(bgr, y + i);
      blend_rows(bgr, spans[y + i], blended);
    }
    write_rows(rows, table, out);
  }
}

template <typename Value>
void Preprocessor::write_rows_of(const RawPicture& picture, const Table<Value>& table, Value* out) {
  constexpr int kRows = YuvScaler::kRowsAtOnce;
  const Channels channels = channels_;
  const std::ptrdiff_t column_stride = column_stride_;
  const std::ptrdiff_t row_stride = row_stride_;
  const int width = scaled_.width;
  for (int y = 0; y < scaled_.height; y += kRows, out += row_stride * kRows) {
    const std::uint8_t* bgr = yuv_scaler_.scale(picture, y);
    const int rows = std::min(kRows, scaled_.height - y);
    const auto write_columns = [&, bgr](auto row_count) {
      const std::uint8_t* in = bgr;
      Value* column = out;
      for (int x = 0; x < width; ++x, in += 3 * kRows, column += column_stride) {
        Value* pixel = column;
        for (int row = 0; row < row_count; ++row, pixel += row_stride) {
          write_pixel(table, channels, in[row], in[kRows + row], in[2 * kRows + row], pixel);
        }
      }
    };
    // The compiler unrolls a loop of a constant number of rows.
    if (rows == kRows) {
      write_columns(std::integral_constant<int, kRows>());
    } else {
      write_columns(rows);
    }
  }
}

template <typename Picture>
void Preprocessor::write(const Picture& picture, ImageTensor& out) {
  const std::size_t size =
      static_cast<std::size_t>(spec_.width) * static_cast<std::size_t>(spec_.height) * 3;
  const auto write_values = [&](const auto& table, auto mean, auto& values) {
    values.resize(size);
    if (padded_) std::fill(values.begin(), values.end(), mean);
    write_rows_of(picture, table, values.data() + origin_);
  };
  out.width = spec_.width;
  out.height = spec_.height;
  if (spec_.quantization) {
    out.values.clear();
    write_values(bytes_, spec_.quantization->quantize(0), out.bytes);
  } else {
    out.bytes.clear();
    write_values(values_, 0.0F, out.values);
  }
}

void Preprocessor::run(const cv::Mat& bgr, ImageTensor& out) {
  if (bgr.empty() || bgr.type() != CV_8UC3) {
    throw Error(ErrorKind::kInternal, "the preprocessor got a picture that is not 8-bit BGR (" +
                                          cv::typeToString(bgr.type()) + ")");
  }
  if (bgr.size() != planned_) plan(bgr.size());
  write(bgr, out);
}

void Preprocessor::run(const RawPicture& picture, ImageTensor& out) {
  const cv::Size size(picture.width, picture.height);
  if (size.empty() || !is_subsampled(picture.format)) {
    throw Error(ErrorKind::kInternal,
                "the preprocessor got a picture without pixels that share U and V");
  }
  if (size != planned_) plan(size);
  if (yuv_format_ != picture.format) {
    yuv_scaler_.plan(picture, crop_, horizontal_, vertical_);
    yuv_format_ = picture.format;
  }
  write(picture, out);
}

}  // namespace lookout
