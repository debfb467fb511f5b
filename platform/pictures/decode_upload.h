// Decodes a picture that a stranger sent. Links neither OpenCV's readers nor what they bring.
#pragma once

#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

// JPEG, PNG and WebP, by their first bytes; otherwise as decode_bytes().
DecodedPicture decode_upload(std::string_view bytes, const DecodeLimits& limits);

using PictureDecoder = void(std::string_view, const DecodeLimits&, DecodedPicture&);

// What `decoder` throws becomes a problem of the picture.
DecodedPicture run_decoder(PictureDecoder* decoder, std::string_view bytes,
                           const DecodeLimits& limits);

}  // namespace lookout
