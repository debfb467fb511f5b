#include "platform/pictures/exif_time.h"

#include <cstdio>
#include <ctime>
#include <string>

#include "platform/pictures/jpeg_segments.h"
#include "platform/pictures/tiff_numbers.h"

namespace lookout {
namespace {

constexpr std::uint32_t kExifDirectory = 0x8769;
constexpr std::uint32_t kDateTimeOriginal = 0x9003;
constexpr std::size_t kTextBytes = 19;  // "2027:11:22 10:15:00"

}  // namespace

std::optional<std::int64_t> seconds_of(int year, int month, int day, int hour, int minute,
                                       int second) {
  std::tm time{};
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  time.tm_mday = day;
  time.tm_hour = hour;
  time.tm_min = minute;
  time.tm_sec = second;
  const bool possible = year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
                        hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 &&
                        second <= 60;
  if (!possible) return std::nullopt;
  return static_cast<std::int64_t>(timegm(&time));
}

std::optional<std::int64_t> exif_time(const unsigned char* data, std::size_t size) {
  const TiffNumbers tiff(data, size);
  if (!tiff.is_valid()) return std::nullopt;
  const auto pointer = tiff.find(tiff.first_directory(), kExifDirectory);
  if (!pointer) return std::nullopt;
  const auto value = tiff.find(tiff.number(*pointer, 4), kDateTimeOriginal);
  if (!value) return std::nullopt;
  const std::size_t begin = tiff.number(*value, 4);
  std::string text;
  for (std::size_t i = 0; i < kTextBytes; ++i) {
    text += static_cast<char>(tiff.number(begin + i, 1));
  }
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const int read = std::sscanf(text.c_str(), "%4d:%2d:%2d %2d:%2d:%2d", &year, &month, &day, &hour,
                               &minute, &second);
  if (read != 6) return std::nullopt;
  return seconds_of(year, month, day, hour, minute, second);
}

std::optional<std::int64_t> exif_time_of_jpeg(std::string_view content) {
  JpegSegments segments(content);
  while (const auto segment = segments.next()) {
    if (segment->marker == JpegSegment::kScan || !segment->is_whole) break;
    if (segment->marker != JpegSegment::kApp1) continue;
    const auto* data = reinterpret_cast<const unsigned char*>(segment->content.data());
    if (const auto time = exif_time(data, segment->content.size())) return time;
  }
  return std::nullopt;
}

}  // namespace lookout
