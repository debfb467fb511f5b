#include "pipeline/model/yuv_scaler.h"

#include <algorithm>
#include <array>
#include <opencv2/core/hal/intrin.hpp>
#include <utility>

#include "pipeline/core/yuv_to_bgr.h"

namespace lookout {
namespace {

// The weights of a row's span sum to this, so that each fits a byte, and a byte times the sum fits
// 16 bits.
constexpr int kByteOne = 255;
constexpr int kLanes = 8;         // of 16 bits in a vector
constexpr int kVectorBytes = 16;  // likewise of 8 bits

// The same taps with weights of bytes. Differences of rounded sums, as in make_taps().
Taps with_byte_weights(Taps taps) {
  for (const Taps::Span& span : taps.spans) {
    int sum = 0;
    int before = 0;
    for (int i = 0; i < span.count; ++i) {
      std::int16_t& weight = *(taps.weights.data() + span.offset + i);
      sum += weight;
      const int rounded = (sum * kByteOne + (1 << (Taps::kWeightBits - 1))) >> Taps::kWeightBits;
      weight = static_cast<std::int16_t>(rounded - before);
      before = rounded;
    }
  }
  return taps;
}

// The weighted sum of `count` lines, of Vectors vectors of each.
template <int Vectors>
void blend_vectors(const std::uint8_t* top, std::size_t stride, const std::int16_t* weights,
                   int count, std::uint16_t* out) {
  std::array<cv::v_uint16x8, std::size_t{2} * Vectors> sums;
  sums.fill(cv::v_setzero_u16());
  for (int tap = 0; tap < count; ++tap, top += stride) {
    const cv::v_uint8x16 weight = cv::v_setall_u8(static_cast<std::uint8_t>(weights[tap]));
    for (std::size_t i = 0; i < Vectors; ++i) {
      cv::v_uint16x8 low;
      cv::v_uint16x8 high;
      cv::v_mul_expand(cv::v_load(top + i * kVectorBytes), weight, low, high);
      sums[2 * i] = cv::v_add_wrap(sums[2 * i], low);
      sums[2 * i + 1] = cv::v_add_wrap(sums[2 * i + 1], high);
    }
  }
  for (const cv::v_uint16x8& sum : sums) {
    cv::v_store(out, sum);
    out += kLanes;
  }
}

// Fetches lines `first` to `last` - 1 into the cache, which the next row of output needs, while
// this one is blended. Frames come from another thread's core, and blend_rows() takes a few bytes
// of each line in turn, which the processor does not foresee. Inline: a compiler may leave out the
// call of a function that has no effect but this.
inline void fetch(const std::uint8_t* plane, std::size_t stride, int size, int first, int last) {
  constexpr int kCacheLine = 64;  // bytes
  for (int line = first; line < last; ++line) {
    const std::uint8_t* bytes = plane + static_cast<std::size_t>(line) * stride;
    for (int i = 0; i < size; i += kCacheLine) __builtin_prefetch(bytes + i);
  }
}

// Sums of 8 rows.
class ColumnSums {
 public:
  ColumnSums() { sums_.fill(cv::v_setzero_u32()); }

  void add(const std::uint16_t* rows, const cv::v_uint16x8& weight) {
    std::array<cv::v_uint32x4, 2> products;
    cv::v_mul_expand(cv::v_load(rows), weight, products[0], products[1]);
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] = sum_of(sums_[i], products[i]);
  }

  // With YuvToBgr::kBits of fraction, of which kByteOne/2 is a level.
  cv::v_int16x8 rounded() const {
    constexpr int kShift = Taps::kWeightBits + 1;
    return cv::v_rshr_pack<kShift>(cv::v_reinterpret_as_s32(sums_[0]),
                                   cv::v_reinterpret_as_s32(sums_[1]));
  }

 private:
  std::array<cv::v_uint32x4, 2> sums_;
};

cv::v_uint16x8 weight_of(std::int16_t weight) {
  return cv::v_setall_u16(static_cast<std::uint16_t>(weight));
}

using Rows = std::array<cv::v_uint16x8, kLanes>;

// Two of four steps that interleave rows 0 and 4, 1 and 5, ...: the third one has transposed them.
Rows interleaved(const Rows& in) {
  Rows out;
  for (std::size_t i = 0; i < kLanes / 2; ++i) {
    cv::v_zip(in[i], in[i + kLanes / 2], out[2 * i], out[2 * i + 1]);
  }
  return out;
}

}  // namespace

void YuvScaler::plan(const RawPicture& picture, const cv::Rect& crop, const Taps& horizontal,
                     const Taps& vertical) {
  const SampleLine line = sample_line(picture, 0);
  const int first_pair = crop.x / 2;
  const int pairs = (crop.x + crop.width + 1) / 2 - first_pair;
  const std::size_t planes = plane_count(picture.format);
  bands_.clear();
  int column = 0;
  for (std::size_t i = 0; i < planes; ++i) {
    const int pair_bytes = i == 0 ? 2 * line.luma_step : line.chroma_step;
    const auto start = static_cast<std::size_t>(first_pair) * static_cast<std::size_t>(pair_bytes);
    bands_.push_back({i > 0, start, pairs * pair_bytes, column});
    column += pairs * pair_bytes;
  }
  const auto component = [&](const unsigned char* sample, std::size_t plane, int step) {
    return Component{bands_[plane].column + static_cast<int>(sample - picture.planes.at(plane)),
                     step};
  };
  const std::size_t last = planes - 1;
  const bool u_first = planes < 3 || line.u == picture.planes[1];
  luma_ = component(line.luma, 0, line.luma_step);
  u_ = component(line.u, u_first ? std::min<std::size_t>(last, 1) : last, line.chroma_step);
  v_ = component(line.v, u_first ? last : 1, line.chroma_step);

  const int shift = crop.x % 2;
  luma_columns_ = horizontal;
  for (Taps::Span& span : luma_columns_.spans) span.first += shift;
  shared_columns_ = shared_taps(horizontal, shift);
  luma_rows_ = with_byte_weights(vertical);
  shared_rows_ = with_byte_weights(shared_taps(vertical, 0));

  columns_ = (column + kLanes - 1) / kLanes * kLanes;
  blended_.assign(static_cast<std::size_t>(columns_) * kRowsAtOnce, 0);
  transposed_.assign(blended_.size(), 0);
  pixels_.assign(horizontal.spans.size() * kRowsAtOnce * 3, 0);
}

// Leaves in `row` the weighted sum of the lines of a span. `plane`: where the band begins.
void YuvScaler::blend_rows(const Band& band, const std::uint8_t* plane, std::size_t stride, int y,
                           std::uint16_t* row) const {
  const Taps& taps = band.shared ? shared_rows_ : luma_rows_;
  const Taps::Span span = taps.spans[static_cast<std::size_t>(y)];
  const std::int16_t* weights = taps.weights.data() + span.offset;
  const std::uint8_t* top = plane + static_cast<std::size_t>(span.first) * stride;
  const int size = band.size;
  if (static_cast<std::size_t>(y) + 1 < taps.spans.size()) {
    const Taps::Span& next = taps.spans[static_cast<std::size_t>(y) + 1];
    fetch(plane, stride, size, span.first + span.count, next.first + next.count);
  }
  int i = 0;
  for (; i + 2 * kVectorBytes <= size; i += 2 * kVectorBytes) {
    blend_vectors<2>(top + i, stride, weights, span.count, row + i);
  }
  if (i == size) return;
  if (size >= kVectorBytes) {  // some bytes twice
    if (i + kVectorBytes < size) blend_vectors<1>(top + i, stride, weights, span.count, row + i);
    i = size - kVectorBytes;
    blend_vectors<1>(top + i, stride, weights, span.count, row + i);
    return;
  }
  for (; i < size; ++i) {
    int sum = 0;
    const std::uint8_t* in = top + i;
    for (int tap = 0; tap < span.count; ++tap, in += stride) sum += weights[tap] * *in;
    row[i] = static_cast<std::uint16_t>(sum);
  }
}

void YuvScaler::transpose() {
  const std::uint16_t* in = blended_.data();
  std::uint16_t* out = transposed_.data();
  for (int column = 0; column < columns_; column += kLanes, in += kLanes) {
    Rows rows;
    const std::uint16_t* row = in;
    for (std::size_t i = 0; i < kLanes; ++i, row += columns_) rows[i] = cv::v_load(row);
    rows = interleaved(interleaved(interleaved(rows)));
    for (std::size_t i = 0; i < kLanes; ++i, out += kLanes) cv::v_store(out, rows[i]);
  }
}

void YuvScaler::blend_columns(const YuvEncoding& encoding) {
  constexpr int kBits = YuvToBgr::kBits;
  const YuvToBgr to_bgr(encoding, kByteOne / 2.0);
  const std::uint16_t* luma = transposed_.data() + luma_.column * kLanes;
  const std::uint16_t* u = transposed_.data() + u_.column * kLanes;
  const std::uint16_t* v = transposed_.data() + v_.column * kLanes;
  const std::ptrdiff_t luma_step = std::ptrdiff_t{luma_.step} * kLanes;
  const std::ptrdiff_t chroma_step = std::ptrdiff_t{u_.step} * kLanes;
  std::uint8_t* out = pixels_.data();
  for (std::size_t x = 0; x < luma_columns_.spans.size(); ++x) {
    const Taps::Span span = luma_columns_.spans[x];
    const std::int16_t* weights = luma_columns_.weights.data() + span.offset;
    const std::uint16_t* in = luma + span.first * luma_step;
    ColumnSums y_sums;
    for (int tap = 0; tap < span.count; ++tap, in += luma_step) {
      y_sums.add(in, weight_of(weights[tap]));
    }
    const Taps::Span shared = shared_columns_.spans[x];
    weights = shared_columns_.weights.data() + shared.offset;
    std::ptrdiff_t sample = shared.first * chroma_step;
    ColumnSums u_sums;
    ColumnSums v_sums;
    for (int tap = 0; tap < shared.count; ++tap, sample += chroma_step) {
      const cv::v_uint16x8 weight = weight_of(weights[tap]);
      u_sums.add(u + sample, weight);
      v_sums.add(v + sample, weight);
    }
    const YuvToBgr::Bgr bgr = to_bgr.convert(y_sums.rounded(), u_sums.rounded(), v_sums.rounded());
    cv::v_rshr_pack_u_store<kBits>(out, bgr.b);
    cv::v_rshr_pack_u_store<kBits>(out + kRowsAtOnce, bgr.g);
    cv::v_rshr_pack_u_store<kBits>(out + 2 * kRowsAtOnce, bgr.r);
    out += 3 * kRowsAtOnce;
  }
}

const std::uint8_t* YuvScaler::scale(const RawPicture& picture, int y) {
  const int rows = std::min(kRowsAtOnce, static_cast<int>(luma_rows_.spans.size()) - y);
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const Band& band = bands_[i];
    const std::size_t stride = plane_stride(picture, i);
    const std::uint8_t* plane = picture.planes.at(i) + band.start;
    std::uint16_t* row = blended_.data() + band.column;
    for (int k = 0; k < rows; ++k, row += columns_) {
      blend_rows(band, plane, stride, y + k, row);
    }
  }
  transpose();
  blend_columns(picture.encoding);
  return pixels_.data();
}

}  // namespace lookout
