#include "app/train/picture_time.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "platform/pictures/exif.h"
#include "platform/pictures/jpeg_segments.h"

namespace lookout {
namespace {

constexpr std::int64_t kMsOfHour = 3'600'000;
constexpr std::int64_t kMsOfDay = 24 * kMsOfHour;
constexpr std::int64_t kFastestMs = 50;          // between two files of a camera
constexpr std::size_t kHead = (1U << 16U) + 64;  // bytes: a segment of EXIF data, and what precedes

std::string head_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string head(kHead, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

std::int64_t changed_ms(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return 0;
  return status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000;
}

// Whether the characters from `start` on are those of the pattern, in which d is any digit, and -
// is what people write between a date and a time.
bool matches(const std::string& text, std::size_t start, std::string_view pattern) {
  for (const char expected : pattern) {
    const char c = start < text.size() ? text[start++] : '\0';
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_separator = c == 'T' || c == '_' || c == '-';
    if (expected == 'd' ? !is_digit : expected == '-' ? !is_separator : c != expected) return false;
  }
  return true;
}

}  // namespace

int PictureTime::hour() const {
  return static_cast<int>((ms % kMsOfDay + kMsOfDay) % kMsOfDay / kMsOfHour);
}

std::optional<std::int64_t> time_in_name(const std::string& name) {
  constexpr std::string_view kTime = "dddddddd-dddddd";
  const auto number = [&name](std::size_t start, std::size_t digits) {
    return std::atoi(name.substr(start, digits).c_str());
  };
  for (std::size_t start = 0; start + kTime.size() <= name.size(); ++start) {
    const std::size_t end = start + kTime.size();
    if (start > 0 && matches(name, start - 1, "d")) continue;
    if (!matches(name, start, kTime) || matches(name, end, "d")) continue;
    const auto seconds =
        seconds_of(number(start, 4), number(start + 4, 2), number(start + 6, 2),
                   number(start + 9, 2), number(start + 11, 2), number(start + 13, 2));
    if (!seconds) return std::nullopt;
    const bool has_ms = matches(name, end, ".ddd") && !matches(name, end + 4, "d");
    return *seconds * 1000 + (has_ms ? number(end + 1, 3) : 0);
  }
  return std::nullopt;
}

PictureTime time_of(const std::string& file) {
  if (const auto seconds = exif_time_of_jpeg(head_of(file))) {
    return {*seconds * 1000, PictureTime::Origin::kExif};
  }
  if (const auto ms = time_in_name(std::filesystem::path(file).stem().string())) {
    return {*ms, PictureTime::Origin::kName};
  }
  return {changed_ms(file), PictureTime::Origin::kFile};
}

bool tell_order(const std::vector<PictureTime>& times) {
  const auto taken = static_cast<std::size_t>(std::count_if(
      times.begin(), times.end(), [](const PictureTime& time) { return time.is_taken(); }));
  if (taken > 0) return taken == times.size();
  std::vector<std::int64_t> sorted;
  sorted.reserve(times.size());
  for (const PictureTime& time : times) sorted.push_back(time.ms);
  std::sort(sorted.begin(), sorted.end());
  std::size_t slow = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] >= kFastestMs) ++slow;
  }
  return 2 * slow > sorted.size();
}

}  // namespace lookout
