// What a decoder may make of a file, and what it made of it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <opencv2/core/mat.hpp>
#include <string>
#include <utility>

namespace lookout {

// With DecodeLimits::reduce, a larger picture is decoded at a reduced scale, and has at most so
// many pixels: many more than classifiers use.
inline constexpr std::int64_t kReducedPixels = 4'000'000;
// Then, its pixels take at most so many bytes, together with what its decoder keeps of the whole
// picture: the coefficients of a progressive JPEG, two bytes each, enough for those of phones with
// 12 megapixels, and the pixels of a lossless WebP. An interlaced PNG is not reduced: it is too
// large.
inline constexpr std::int64_t kReducedBytes = 39'000'000;

struct DecodeLimits {
  std::int64_t pixels = 0;  // of the decoded picture: width x height
  std::int64_t side = std::numeric_limits<std::int64_t>::max();  // of the file's picture, in pixels
  // For a JPEG: each goes over the whole picture. djpeg and browsers stop at numbers like this; a
  // progressive JPEG of libjpeg has 10.
  int scans = 100;
  // JPEG, PNG and WebP of more than kReducedPixels are decoded at 1/2, 1/4, ... of their sides: a
  // JPEG by DCT scaling, others by means of pixels. A JPEG may have four times `pixels` then,
  // unless it has several scans. What takes more memory than kReducedBytes is too large.
  bool reduce = false;
  // Polled at every row, and between the scans of a JPEG; empty: never. Called by the thread that
  // decodes. Must not throw.
  std::function<bool()> cancelled{};
  const char* key = "camera.max-pixels";  // the setting of `pixels`, for messages
};

struct PictureSize {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

enum class DecodeProblem {
  kNone,
  kUnsupported,    // no format that is read
  kTooManyPixels,  // for `pixels` or `side`; nothing was allocated for them
  kDamaged,        // also a JPEG with too many scans
  kTruncated,      // the end of the file is missing
  kNoMemory,
  kCancelled,
};

struct DecodedPicture {
  cv::Mat bgr;  // CV_8UC3, turned as its EXIF data say; empty when there is a problem
  DecodeProblem problem = DecodeProblem::kNone;
  std::string message;  // the end of a sentence about the problem: "is truncated: the end ..."
  std::string warning;  // the library's first, "Corrupt JPEG data: bad Huffman code"; empty: none
  std::int64_t further_warnings = 0;

  void fail(DecodeProblem why, std::string sentence_end) {
    problem = why;
    message = std::move(sentence_end);
  }
};

inline constexpr const char* kUnreadable = "cannot be read as a picture";

// The message of a problem that has no details.
inline const char* message_of(DecodeProblem problem) {
  switch (problem) {
    case DecodeProblem::kTruncated:
      return "is truncated: the end of the picture is missing";
    case DecodeProblem::kNoMemory:
      return "needs more memory than there is";
    case DecodeProblem::kCancelled:
      return "was not decoded to the end: nobody waits for it";
    default:
      return kUnreadable;
  }
}

// `error`: a library's, "IDAT: CRC error"; may be empty.
inline std::string damaged(const std::string& error) {
  return error.empty() ? kUnreadable : kUnreadable + (": " + error);
}

// Whether the decoders may allocate memory for it. `gain`: that many times the pixels are allowed.
inline bool is_within(const PictureSize& size, const DecodeLimits& limits, std::int64_t gain = 1) {
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 30;  // OpenCV's limit
  const std::int64_t pixels = std::min(limits.pixels, kMaxPixels) * gain;
  return size.width <= limits.side && size.height <= limits.side &&
         (size.height <= 0 || size.width <= pixels / size.height);
}

// The smallest of 1, 2, 4, ... by which the sides are divided so that kReducedPixels remain at
// most; 1 without DecodeLimits::reduce.
inline std::int64_t reducing_scale(const PictureSize& size, const DecodeLimits& limits) {
  std::int64_t scale = 1;
  if (!limits.reduce) return scale;
  while (std::max<std::int64_t>(size.width / scale, 1) *
             std::max<std::int64_t>(size.height / scale, 1) >
         kReducedPixels) {
    scale *= 2;
  }
  return scale;
}

// "is too large: 32000x32000 pixels, the limit is 100 megapixels (camera.max-pixels)", and the
// side, when there is a limit for it.
inline std::string too_large(const PictureSize& size, const DecodeLimits& limits) {
  const bool has_side = limits.side != DecodeLimits{}.side;
  return fmt::format("is too large: {}x{} pixels, the limit is {:.10g} megapixels ({}){}",
                     size.width, size.height, static_cast<double>(limits.pixels) / 1e6, limits.key,
                     has_side ? fmt::format(", and {} a side", limits.side) : "");
}

}  // namespace lookout
