#include "platform/pictures/jpeg_segments.h"

#include "platform/pictures/exif.h"

namespace lookout {
namespace {

constexpr std::size_t kMarker = 2;  // bytes
constexpr std::size_t kLength = 2;
constexpr std::string_view kExif = "Exif";  // begins an APP1 segment (Exif 2.32, 4.7.2)

// ITU-T T.81, B.1.1.3: also those that are reserved, which libjpeg finds nothing behind.
bool is_marker_alone(unsigned marker) {
  return marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9);
}

// ITU-T T.81, B.2.2: precision, height, width.
constexpr std::size_t kHeight = 1;
constexpr std::size_t kWidth = 3;
constexpr std::size_t kFrameHeader = 5;  // bytes up to the end of these

}  // namespace

bool is_frame_header(unsigned marker) {
  constexpr unsigned kExtensions = 0xc8;
  constexpr unsigned kArithmetic = 0xcc;
  return marker >= 0xc0 && marker <= 0xcf && marker != JpegSegment::kHuffmanTables &&
         marker != kExtensions && marker != kArithmetic;
}

std::optional<JpegSegment> JpegSegments::next() {
  const auto byte = [this](std::size_t place) { return static_cast<unsigned char>(jpeg_[place]); };
  while ((place_ = jpeg_.find('\xff', place_)) != std::string_view::npos) {
    const std::size_t start = place_;
    if (start + kMarker > jpeg_.size()) break;
    const unsigned marker = byte(start + 1);
    if (marker == 0 || marker == 0xff) {
      ++place_;
      continue;
    }
    place_ += kMarker;
    if (is_marker_alone(marker)) return JpegSegment{marker, start, {}, true, true};
    if (place_ + kLength > jpeg_.size()) break;
    const std::size_t length = byte(place_) << 8U | byte(place_ + 1);
    const std::size_t count = length < kLength ? 0 : length - kLength;
    const std::string_view content = jpeg_.substr(place_ + kLength, count);
    place_ += kLength + content.size();
    return JpegSegment{marker, start, content, content.size() == count && length >= kLength, false};
  }
  place_ = jpeg_.size();
  return std::nullopt;
}

std::optional<PictureSize> size_of_jpeg(std::string_view jpeg) {
  JpegSegments segments(jpeg);
  while (const auto segment = segments.next()) {
    if (segment->marker == JpegSegment::kScan) break;
    if (!is_frame_header(segment->marker)) continue;
    const std::string_view content = segment->content;
    if (content.size() < kFrameHeader) break;
    const auto number = [content](std::size_t place) {
      const auto byte = [content](std::size_t at) {
        return static_cast<unsigned char>(content[at]);
      };
      return std::int64_t{byte(place)} << 8 | byte(place + 1);
    };
    return PictureSize{number(kWidth), number(kHeight)};
  }
  return std::nullopt;
}

std::string_view exif_of_jpeg(std::string_view jpeg) {
  JpegSegments segments(jpeg);
  while (const auto segment = segments.next()) {
    if (segment->marker == JpegSegment::kScan || !segment->is_whole) break;
    const bool is_exif = segment->content.substr(0, kExif.size()) == kExif;
    if (segment->marker == JpegSegment::kApp1 && is_exif) return segment->content;
  }
  return {};
}

std::optional<std::int64_t> exif_time_of_jpeg(std::string_view jpeg) {
  return exif_time(exif_of_jpeg(jpeg));
}

}  // namespace lookout
