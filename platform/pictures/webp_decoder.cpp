#include "platform/pictures/webp_decoder.h"

#include <webp/decode.h>

#include <algorithm>
#include <cstdint>

#include "platform/pictures/exif_orientation.h"
#include "platform/pictures/picture_format.h"
#include "platform/pictures/picture_size.h"
#include "platform/pictures/webp_orientation.h"

namespace lookout {
namespace {

DecodeProblem problem_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OK:
      return DecodeProblem::kNone;
    case VP8_STATUS_OUT_OF_MEMORY:
      return DecodeProblem::kNoMemory;
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return DecodeProblem::kTruncated;
    default:
      return DecodeProblem::kDamaged;
  }
}

// Of each pixel, before it is scaled: libwebp keeps lossless pictures whole, and of others the
// transparency.
std::int64_t bytes_kept(const WebPBitstreamFeatures& input) {
  constexpr int kLossy = 1;
  if (input.format != kLossy) return 4;
  return input.has_alpha != 0 ? 1 : 0;
}

void fail(VP8StatusCode status, DecodedPicture& picture) {
  const DecodeProblem problem = problem_of(status);
  picture.fail(problem, message_of(problem));
}

}  // namespace

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
