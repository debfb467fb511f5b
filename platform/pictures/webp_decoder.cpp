#include "platform/pictures/webp_decoder.h"

#include <endian.h>
#include <webp/decode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/pictures/exif.h"
#include "platform/pictures/picture_format.h"

namespace lookout {
namespace {

// The bytes that libwebp keeps of each pixel until it is scaled: all of a lossless picture, and the
// transparency of others.
std::int64_t bytes_kept(const WebPBitstreamFeatures& input) {
  constexpr int kLossy = 1;
  if (input.format != kLossy) return 4;
  return input.has_alpha != 0 ? 1 : 0;
}

void fail(VP8StatusCode status, DecodedPicture& picture) {
  const bool is_cut = status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
  const auto problem = status == VP8_STATUS_OUT_OF_MEMORY ? DecodeProblem::kNoMemory
                       : is_cut                           ? DecodeProblem::kTruncated
                                                          : DecodeProblem::kDamaged;
  picture.fail(problem, message_of(problem));
}

constexpr std::size_t kName = 4;         // bytes, of a chunk
constexpr std::size_t kChunkHeader = 8;  // its name and size
constexpr std::size_t kFirst = 12;       // behind "RIFF", its size and "WEBP"

std::uint32_t riff_size(std::string_view header) {
  std::uint32_t size = 0;
  std::memcpy(&size, header.data() + kName, sizeof size);
  return le32toh(size);
}

}  // namespace

// Not by libwebpdemux, whose list of chunks may take more than the file.
int webp_orientation(std::string_view bytes) {
  if (bytes.size() < kFirst || bytes.substr(kChunkHeader, kName) != "WEBP") return kUpright;
  std::string_view rest = bytes.substr(kFirst);
  while (rest.size() >= kChunkHeader) {
    const std::size_t size = riff_size(rest);
    const std::string_view content = rest.substr(kChunkHeader, size);
    if (rest.substr(0, kName) == "EXIF") return exif_orientation(content);
    const std::size_t padded = size + size % 2;  // chunks begin at even places
    if (padded > rest.size() - kChunkHeader) break;
    rest.remove_prefix(kChunkHeader + padded);
  }
  return kUpright;
}

void decode_webp(std::string_view bytes, const DecodeLimits& limits, DecodedPicture& picture) {
  if (const auto animated = unreadable_format(bytes)) {
    return picture.fail(DecodeProblem::kUnsupported, *animated);
  }
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPDecoderConfig config{};
  if (WebPInitDecoderConfig(&config) == 0) return fail(VP8_STATUS_INVALID_PARAM, picture);
  const VP8StatusCode header = WebPGetFeatures(data, bytes.size(), &config.input);
  if (header != VP8_STATUS_OK) return fail(header, picture);
  const PictureSize size{config.input.width, config.input.height};
  if (!is_within(size, limits)) {
    return picture.fail(DecodeProblem::kTooManyPixels, too_large(size, limits));
  }
  const std::int64_t scale = reducing_scale(size, limits);
  if (limits.reduce && size.width * size.height * bytes_kept(config.input) > kReducedBytes) {
    return picture.fail(DecodeProblem::kTooManyPixels,
                        "is too large for a lossless WebP: send it as a JPEG, or smaller");
  }
  const auto scaled = [scale](int side) { return std::max(static_cast<int>(side / scale), 1); };
  config.options.use_scaling = scale > 1 ? 1 : 0;
  config.options.scaled_width = scaled(config.input.width);
  config.options.scaled_height = scaled(config.input.height);
  picture.bgr.create(config.options.scaled_height, config.options.scaled_width, CV_8UC3);
  config.output.colorspace = MODE_BGR;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {picture.bgr.data, static_cast<int>(picture.bgr.step),
                          picture.bgr.total() * picture.bgr.elemSize()};
  const VP8StatusCode status = WebPDecode(data, bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) return fail(status, picture);
  turn_upright(webp_orientation(bytes), picture.bgr);
}

}  // namespace lookout
