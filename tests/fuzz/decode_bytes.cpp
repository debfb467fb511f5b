// Bytes as a picture of a stranger: pixels within the limits, or a problem with a sentence. Where
// picture_size() knows the format, it tells the size that the decoder gives.
#include "platform/pictures/decode_picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "platform/pictures/opencv_decoder.h"

namespace {

constexpr std::int64_t kMaxPixels = 100'000;
constexpr std::int64_t kMaxSide = 1000;

void require(bool promise) {
  if (!promise) std::abort();
}

lookout::DecodeLimits limits_of(bool reduce) {
  lookout::DecodeLimits limits;
  limits.pixels = kMaxPixels;
  limits.side = kMaxSide;
  limits.reduce = reduce;
  return limits;
}

void check(std::string_view bytes, bool reduce) {
  const lookout::DecodedPicture picture = lookout::decode_bytes(bytes, limits_of(reduce));
  if (picture.problem != lookout::DecodeProblem::kNone) {
    require(!picture.message.empty());
    return;
  }
  const std::int64_t width = picture.bgr.cols;
  const std::int64_t height = picture.bgr.rows;
  require(picture.bgr.type() == CV_8UC3 && width > 0 && height > 0);
  require(width * height <= kMaxPixels && std::max(width, height) <= kMaxSide);
  const auto size = lookout::picture_size(bytes);
  if (!size) return;
  const bool upright = size->width == width && size->height == height;
  require(upright || (size->width == height && size->height == width));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes, false);
  check(bytes, true);
  return 0;
}
