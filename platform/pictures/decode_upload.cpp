#include "platform/pictures/decode_upload.h"

#include <new>
#include <opencv2/core.hpp>

#include "platform/pictures/jpeg_decoder.h"
#include "platform/pictures/picture_format.h"
#include "platform/pictures/png_decoder.h"
#include "platform/pictures/webp_decoder.h"

namespace lookout {
namespace {

void decode_upload_format(std::string_view bytes, const DecodeLimits& limits,
                          DecodedPicture& picture) {
  switch (picture_format(bytes)) {
    case PictureFormat::kJpeg:
      decode_jpeg(bytes, limits, {JpegTolerance::kFile}, picture);
      break;
    case PictureFormat::kPng:
      decode_png(bytes, limits, picture);
      break;
    case PictureFormat::kWebp:
      decode_webp(bytes, limits, picture);
      break;
    default:
      picture.fail(DecodeProblem::kUnsupported, unreadable_format(bytes).value_or(kUnreadable));
      break;
  }
}

}  // namespace

DecodedPicture run_decoder(PictureDecoder* decoder, std::string_view bytes,
                           const DecodeLimits& limits) {
  DecodedPicture picture;
  try {
    decoder(bytes, limits, picture);
  } catch (const std::bad_alloc&) {
    picture.fail(DecodeProblem::kNoMemory, message_of(DecodeProblem::kNoMemory));
  } catch (const cv::Exception& error) {  // also a reader's own failure
    const bool is_memory = error.code == cv::Error::StsNoMem;
    const auto problem = is_memory ? DecodeProblem::kNoMemory : DecodeProblem::kDamaged;
    picture.fail(problem, message_of(problem));
  }
  if (picture.problem != DecodeProblem::kNone) picture.bgr.release();
  return picture;
}

DecodedPicture decode_upload(std::string_view bytes, const DecodeLimits& limits) {
  return run_decoder(decode_upload_format, bytes, limits);
}

}  // namespace lookout
