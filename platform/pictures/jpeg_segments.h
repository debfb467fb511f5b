// The segments of a JPEG, without a decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "platform/pictures/decoded_picture.h"

namespace lookout {

struct JpegSegment {
  // ITU-T T.81, table B.1.
  static constexpr unsigned kHuffmanTables = 0xc4;
  static constexpr unsigned kStart = 0xd8;
  static constexpr unsigned kEnd = 0xd9;
  static constexpr unsigned kScan = 0xda;
  static constexpr unsigned kApp1 = 0xe1;
  static constexpr unsigned kApp2 = 0xe2;

  unsigned marker;           // the byte after 0xff
  std::size_t place;         // of that 0xff
  std::string_view content;  // after the length; what there is of it when the data end before
  bool is_whole;             // the data have all of it
  bool is_alone;             // the marker has no length, and no content
};

// Whether a segment of that marker begins a picture, whatever its process: ITU-T T.81, table B.1.
bool is_frame_header(unsigned marker);

// As libjpeg does, passes over what is between segments, such as the pixels: bytes without a 0xff,
// 0xff 0x00, and 0xff that fill. Allocates nothing.
class JpegSegments {
 public:
  // `jpeg` outlives this, and what it returns.
  explicit JpegSegments(std::string_view jpeg) : jpeg_(jpeg) {}

  // The next segment after the marker of the file's start, also those after pixels; nothing at the
  // end of the data, or when they end within its length.
  std::optional<JpegSegment> next();

 private:
  std::string_view jpeg_;
  std::size_t place_ = 2;
};

// The size that the header of a JPEG says; nothing when it says none, or the data end before it.
std::optional<PictureSize> size_of_jpeg(std::string_view jpeg);

// The EXIF data of a JPEG; empty: none. Phones and editors write XMP, which is an APP1 segment,
// too, before or behind them. The beginning of a file suffices.
std::string_view exif_of_jpeg(std::string_view jpeg);

// The exif_time() of a JPEG.
std::optional<std::int64_t> exif_time_of_jpeg(std::string_view jpeg);

}  // namespace lookout
