// JPEG files, decoded to the pixels that cv::imread() gives. OpenCV lets libjpeg print its warnings
// to stderr, and fills the missing part of a truncated picture with gray; here the warnings are
// returned, and a truncated picture has no pixels.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>

namespace lookout {

struct JpegFile {
  cv::Mat bgr;             // CV_8UC3, turned as its EXIF data say; empty: it cannot be decoded
  bool truncated = false;  // the file ends without the end marker; `bgr` is empty then
  bool out_of_memory = false;
  std::string warning;  // libjpeg's first, "Corrupt JPEG data: bad Huffman code"; empty: none
  std::int64_t further_warnings = 0;
};

// Nothing when the file is no JPEG, or one that is left to OpenCV: with four components (CMYK), or
// larger than OpenCV's limit. For several threads at a time.
std::optional<JpegFile> read_jpeg_file(const std::string& path);

}  // namespace lookout
