// JPEGs of files, clients and cameras, decoded to the pixels that cv::imread() gives. OpenCV lets
// libjpeg print its warnings to stderr, and fills the missing part of a truncated picture with
// gray; here the warnings are returned, and a truncated picture has no pixels.
#pragma once

#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

enum class JpegTolerance {
  kFile,  // the end must be there; what else is wrong is a warning
  // A camera's: whatever is visibly wrong is damage, but not habits of many cameras, such as no end
  // marker, no Huffman tables, or a few bytes too many. Not turned by EXIF data.
  kFrame,
};

struct JpegOptions {
  JpegTolerance tolerance = JpegTolerance::kFile;
  // The scale, 1 to 8 eighths of the sides, rounded up; 8 with DecodeLimits::reduce. At less than
  // 8, colors are upsampled without interpolation, in one step with their conversion: this costs a
  // tenth less, and alone changes a model's answers no more than other rounding does. What the
  // reduction changes is told at eighths_for().
  int eighths = 8;
  bool gray = false;  // luma alone, CV_8UC1, which a JPEG of four components has not
};

// Decodes `jpeg` into picture.bgr, whose memory is used when its size fits; its content is
// unspecified when there is a problem. Takes memory for the picture only after its header was
// compared with the limits, and for that of a progressive one only after its scans were counted.
// For several threads at a time.
void decode_jpeg(std::string_view jpeg, const DecodeLimits& limits, const JpegOptions& options,
                 DecodedPicture& picture);

}  // namespace lookout
