// What a reader of one format made of a file.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>

namespace lookout {

struct DecodedFile {
  cv::Mat bgr;             // CV_8UC3, turned as its EXIF data say; empty: it cannot be decoded
  bool truncated = false;  // the end of the file is missing; `bgr` is empty then
  bool out_of_memory = false;
  std::string error;    // why it cannot be decoded, by the library: "IDAT: CRC error"; may be empty
  std::string warning;  // the library's first, "Corrupt JPEG data: bad Huffman code"; empty: none
  std::int64_t further_warnings = 0;
};

}  // namespace lookout
