#include "platform/cameras/raw_converter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <opencv2/core/hal/intrin.hpp>
#include <opencv2/imgproc.hpp>

#include "pipeline/core/yuv_to_bgr.h"

namespace lookout {
namespace {

constexpr int kCopied = -1;  // in place of a conversion

// How OpenCV converts a format whose pixels share nothing: a cv::ColorConversionCodes. In the order
// of RawFormat.
constexpr std::array<int, 5> kConversions{{
    kCopied,               // kBgr
    cv::COLOR_RGB2BGR,     // kRgb
    cv::COLOR_BGRA2BGR,    // kBgrx
    cv::COLOR_BGR5652BGR,  // kRgb565
    cv::COLOR_GRAY2BGR,    // kGray
}};

// Sixteen pairs of pixels: the luma of the first and of the second ones, and what both share.
constexpr int kPairsAtOnce = 16;
constexpr int kPixelsAtOnce = 2 * kPairsAtOnce;

struct PairSamples {
  cv::v_uint8x16 first;
  cv::v_uint8x16 second;
  cv::v_uint8x16 u;
  cv::v_uint8x16 v;
};

// `LumaStep`, `ChromaStep`: as in SampleLine. Reads the bytes of these pairs alone.
template <int LumaStep, int ChromaStep>
PairSamples load_pairs(const SampleLine& line, int pair) {
  PairSamples samples;
  const unsigned char* luma = line.luma + 2 * LumaStep * pair;
  const unsigned char* u = line.u + ChromaStep * pair;
  const unsigned char* v = line.v + ChromaStep * pair;
  if constexpr (ChromaStep == 1) {
    cv::v_load_deinterleave(luma, samples.first, samples.second);
    samples.u = cv::v_load(u);
    samples.v = cv::v_load(v);
    return samples;
  }
  cv::v_uint8x16 chroma[2];
  if constexpr (LumaStep == 1) {
    cv::v_load_deinterleave(luma, samples.first, samples.second);
    cv::v_load_deinterleave(std::min(u, v), chroma[0], chroma[1]);
  } else if (luma < std::min(u, v)) {
    cv::v_load_deinterleave(luma, samples.first, chroma[0], samples.second, chroma[1]);
  } else {
    cv::v_load_deinterleave(std::min(u, v), chroma[0], samples.first, chroma[1], samples.second);
  }
  samples.u = chroma[u < v ? 0 : 1];
  samples.v = chroma[u < v ? 1 : 0];
  return samples;
}

// The same of the last pairs of a line, of which there are fewer.
PairSamples gather_pairs(const SampleLine& line, int pair, int end) {
  std::array<std::array<unsigned char, kPairsAtOnce>, 4> bytes{};
  for (std::size_t i = 0; pair < end; ++i, ++pair) {
    bytes[0][i] = line.luma[2 * pair * line.luma_step];
    bytes[1][i] = line.luma[(2 * pair + 1) * line.luma_step];
    bytes[2][i] = line.u[pair * line.chroma_step];
    bytes[3][i] = line.v[pair * line.chroma_step];
  }
  return {cv::v_load(bytes[0].data()), cv::v_load(bytes[1].data()), cv::v_load(bytes[2].data()),
          cv::v_load(bytes[3].data())};
}

// In halves, with YuvToBgr's bits of fraction.
using WideSamples = std::array<cv::v_int16x8, 2>;

WideSamples widened(const cv::v_uint8x16& samples) {
  cv::v_uint16x8 low;
  cv::v_uint16x8 high;
  cv::v_expand(samples, low, high);
  return {cv::v_reinterpret_as_s16(cv::v_shl<YuvToBgr::kBits>(low)),
          cv::v_reinterpret_as_s16(cv::v_shl<YuvToBgr::kBits>(high))};
}

using BgrBytes = std::array<cv::v_uint8x16, 3>;

BgrBytes bgr_bytes(const YuvToBgr& to_bgr, const cv::v_uint8x16& luma, const WideSamples& u,
                   const WideSamples& v) {
  const WideSamples y = widened(luma);
  const YuvToBgr::Bgr low = to_bgr.convert(y[0], u[0], v[0]);
  const YuvToBgr::Bgr high = to_bgr.convert(y[1], u[1], v[1]);
  return {cv::v_rshr_pack_u<YuvToBgr::kBits>(low.b, high.b),
          cv::v_rshr_pack_u<YuvToBgr::kBits>(low.g, high.g),
          cv::v_rshr_pack_u<YuvToBgr::kBits>(low.r, high.r)};
}

// Writes kPixelsAtOnce pixels.
void write_pairs(const YuvToBgr& to_bgr, const PairSamples& samples, unsigned char* bgr) {
  const WideSamples u = widened(samples.u);
  const WideSamples v = widened(samples.v);
  const BgrBytes first = bgr_bytes(to_bgr, samples.first, u, v);
  const BgrBytes second = bgr_bytes(to_bgr, samples.second, u, v);
  std::array<BgrBytes, 2> pixels;
  for (std::size_t i = 0; i < first.size(); ++i) {
    cv::v_zip(first[i], second[i], pixels[0][i], pixels[1][i]);
  }
  for (const BgrBytes& half : pixels) {
    cv::v_store_interleave(bgr, half[0], half[1], half[2]);
    bgr += 3 * kPairsAtOnce;
  }
}

template <int LumaStep, int ChromaStep>
void convert_line(const YuvToBgr& to_bgr, const SampleLine& line, int width, unsigned char* bgr) {
  const int pairs = width / 2;
  int pair = 0;
  for (; pair + kPairsAtOnce <= pairs; pair += kPairsAtOnce, bgr += 3 * kPixelsAtOnce) {
    write_pairs(to_bgr, load_pairs<LumaStep, ChromaStep>(line, pair), bgr);
  }
  if (pair == pairs) return;
  std::array<unsigned char, 3 * kPixelsAtOnce> last;
  write_pairs(to_bgr, gather_pairs(line, pair, pairs), last.data());
  std::copy_n(last.data(), 3 * 2 * (pairs - pair), bgr);
}

void convert_subsampled(const RawPicture& picture, cv::Mat& bgr) {
  constexpr int kLevel = 1 << YuvToBgr::kBits;
  bgr.create(picture.height, picture.width, CV_8UC3);
  const YuvToBgr to_bgr(picture.encoding, kLevel);
  for (int y = 0; y < picture.height; ++y) {
    const SampleLine line = sample_line(picture, y);
    const auto convert = line.luma_step == 2     ? convert_line<2, 4>
                         : line.chroma_step == 2 ? convert_line<1, 2>
                                                 : convert_line<1, 1>;
    convert(to_bgr, line, picture.width, bgr.ptr(y));
  }
}

}  // namespace

void take_picture(const RawPicture& picture, Frame& frame) {
  if (!is_subsampled(picture.format)) {
    frame.picture.begin(CameraPicture::Kind::kNone, nullptr);
    convert_to_bgr(picture, frame.bgr);
    return;
  }
  CameraPicture& taken = frame.picture;
  taken.begin(CameraPicture::Kind::kRaw,
              [](const CameraPicture& raw, int /*eighths*/, cv::Mat& bgr) {
                convert_to_bgr(raw.raw(), bgr);
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

void convert_to_bgr(const RawPicture& picture, cv::Mat& bgr) {
  if (is_subsampled(picture.format)) return convert_subsampled(picture, bgr);
  const auto pixel_bytes = static_cast<int>(min_stride(picture.format, 1));
  // OpenCV only reads it, although its type allows writing.
  auto* const data = const_cast<unsigned char*>(picture.planes[0]);
  const cv::Mat pixels(picture.height, picture.width, CV_8UC(pixel_bytes), data, picture.stride);
  const int conversion = kConversions.at(static_cast<std::size_t>(picture.format));
  if (conversion == kCopied) {
    pixels.copyTo(bgr);
  } else {
    cv::cvtColor(pixels, bgr, conversion);
  }
}

}  // namespace lookout
