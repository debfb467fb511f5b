#include "platform/pictures/exif.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <opencv2/core.hpp>
#include <string>

namespace lookout {
namespace {

constexpr std::uint32_t kOrientation = 0x0112;  // tags
constexpr std::uint32_t kExifDirectory = 0x8769;
constexpr std::uint32_t kDateTimeOriginal = 0x9003;
constexpr std::size_t kTimeBytes = 19;  // "2027:11:22 10:15:00"

// Numbers and directories of TIFF data.
class TiffNumbers {
 public:
  explicit TiffNumbers(std::string_view data) : data_(data) {
    constexpr std::string_view kPrefix{"Exif\0\0", 6};
    if (data_.substr(0, kPrefix.size()) == kPrefix) data_.remove_prefix(kPrefix.size());
  }

  bool is_valid() const {
    constexpr std::uint32_t kMark = 42;
    const std::string_view order = data_.substr(0, 2);
    return (order == "II" || order == "MM") && number(2, 2) == kMark;
  }

  // The number of so many bytes at the offset; 0 beyond the end.
  std::uint32_t number(std::size_t offset, std::size_t bytes) const {
    if (offset > data_.size() || bytes > data_.size() - offset) return 0;
    const bool little_endian = data_[0] == 'I';
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t place = offset + (little_endian ? bytes - 1 - i : i);
      value = value << 8U | static_cast<unsigned char>(data_[place]);
    }
    return value;
  }

  // The offset of the first directory.
  std::size_t first_directory() const { return number(4, 4); }

  // The offset of the value of a tag's entry in a directory; nothing when it has no such tag.
  std::optional<std::size_t> find(std::size_t directory, std::uint32_t tag) const {
    constexpr std::size_t kEntry = 12;  // bytes
    constexpr std::size_t kValue = 8;   // its place in an entry
    const std::uint32_t entries = number(directory, 2);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const std::size_t entry = directory + 2 + i * kEntry;
      if (number(entry, 2) == tag) return entry + kValue;
    }
    return std::nullopt;
  }

 private:
  std::string_view data_;
};

}  // namespace

int exif_orientation(std::string_view data) {
  const TiffNumbers tiff(data);
  if (!tiff.is_valid()) return kUpright;
  const auto value = tiff.find(tiff.first_directory(), kOrientation);
  const std::uint32_t orientation = value ? tiff.number(*value, 2) : 0;
  return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : kUpright;
}

void turn_upright(int orientation, cv::Mat& picture) {
  constexpr int kNone = 2;  // else as cv::flip(): 0 vertically, 1 horizontally, -1 both
  constexpr std::array<int, 9> kFlips{kNone, kNone, 1, -1, 0, kNone, 1, -1, 0};
  if (orientation > 4) cv::transpose(picture, picture);
  const int flip = kFlips.at(static_cast<std::size_t>(orientation));
  if (flip != kNone) cv::flip(picture, picture, flip);
}

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

std::optional<std::int64_t> exif_time(std::string_view data) {
  const TiffNumbers tiff(data);
  if (!tiff.is_valid()) return std::nullopt;
  const auto pointer = tiff.find(tiff.first_directory(), kExifDirectory);
  if (!pointer) return std::nullopt;
  const auto value = tiff.find(tiff.number(*pointer, 4), kDateTimeOriginal);
  if (!value) return std::nullopt;
  const std::size_t begin = tiff.number(*value, 4);
  std::string text;
  for (std::size_t i = 0; i < kTimeBytes; ++i) {
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

}  // namespace lookout
