#include "platform/cameras/v4l2_picture.h"

#include <algorithm>

namespace lookout {
namespace {

constexpr bool kIsRgb = false;

ColorMatrix matrix_of(std::uint32_t encoding) {
  switch (encoding) {
    case V4L2_YCBCR_ENC_709:
    case V4L2_YCBCR_ENC_XV709:
    case V4L2_YCBCR_ENC_SMPTE240M:  // differs from BT.709 by less than a level in a hundred
    case V4L2_YCBCR_ENC_BT2020:     // nearer to BT.709 than to BT.601
    case V4L2_YCBCR_ENC_BT2020_CONST_LUM:
      return ColorMatrix::kBt709;
    default:
      return ColorMatrix::kBt601;
  }
}

}  // namespace

YuvEncoding yuv_encoding_of(const v4l2_pix_format& format) {
  const std::uint32_t space = format.colorspace;
  const std::uint32_t encoding = format.ycbcr_enc != V4L2_YCBCR_ENC_DEFAULT
                                     ? format.ycbcr_enc
                                     : std::uint32_t{V4L2_MAP_YCBCR_ENC_DEFAULT(space)};
  const std::uint32_t quantization =
      format.quantization != V4L2_QUANTIZATION_DEFAULT
          ? format.quantization
          : std::uint32_t{V4L2_MAP_QUANTIZATION_DEFAULT(kIsRgb, space, encoding)};
  const bool is_full = quantization == V4L2_QUANTIZATION_FULL_RANGE;
  return {matrix_of(encoding), is_full,
          is_full || format.quantization != V4L2_QUANTIZATION_DEFAULT};
}

std::optional<RawPicture> raw_picture_of(const V4l2Format& format) {
  const auto* const readable =
      std::find_if(kReadableFormats.begin(), kReadableFormats.end(),
                   [&format](const auto& each) { return each.fourcc == format.fourcc; });
  if (readable == kReadableFormats.end() || !readable->raw) return std::nullopt;
  const auto raw = readable->raw;
  RawPicture picture;
  picture.format = *raw;
  picture.width = format.width;
  picture.height = format.height;
  picture.lines = format.height;
  if (is_subsampled(*raw)) {
    picture.width -= picture.width % 2;
    picture.height -= picture.height % 2;
  }
  // Some drivers leave the stride at 0.
  picture.stride = std::max(format.stride, min_stride(*raw, format.width));
  picture.encoding = format.encoding;
  return picture;
}

}  // namespace lookout
