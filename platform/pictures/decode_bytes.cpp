#include "platform/pictures/decode_bytes.h"

#include "platform/pictures/decode_upload.h"
#include "platform/pictures/opencv_decoder.h"
#include "platform/pictures/picture_format.h"

namespace lookout {

DecodedPicture decode_bytes(std::string_view bytes, const DecodeLimits& limits) {
  const PictureFormat format = picture_format(bytes);
  const bool is_upload = format != PictureFormat::kTiff && format != PictureFormat::kBmp;
  if (is_upload) return decode_upload(bytes, limits);
  return run_decoder(decode_with_opencv, bytes, limits);
}

}  // namespace lookout
