#include "app/train/picture_time.h"

#include <regex.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

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

// A regular expression with groups of digits.
class TimePattern {
 public:
  static constexpr std::size_t kGroups = 11;

  explicit TimePattern(const char* pattern) { regcomp(&compiled_, pattern, REG_EXTENDED); }
  ~TimePattern() { regfree(&compiled_); }
  TimePattern(const TimePattern&) = delete;
  TimePattern& operator=(const TimePattern&) = delete;

  // The number of each group, by its index; 0 for a group that is empty or matches nothing.
  std::optional<std::array<int, kGroups>> numbers_of(const std::string& text) const {
    std::array<regmatch_t, kGroups> groups{};
    if (regexec(&compiled_, text.c_str(), kGroups, groups.data(), 0) != 0) return std::nullopt;
    std::array<int, kGroups> numbers{};
    for (std::size_t i = 0; i < kGroups; ++i) {
      const auto [start, end] = groups[i];
      if (start < end) numbers[i] = std::atoi(text.substr(start, end - start).c_str());
    }
    return numbers;
  }

 private:
  regex_t compiled_{};
};

}  // namespace

int PictureTime::hour() const {
  return static_cast<int>((ms % kMsOfDay + kMsOfDay) % kMsOfDay / kMsOfHour);
}

std::optional<std::int64_t> time_in_name(const std::string& name) {
  // POSIX's, since std::regex takes seconds to compile.
  static const TimePattern pattern(
      "(^|[^0-9])([0-9]{4})([0-9]{2})([0-9]{2})[T_-]([0-9]{2})([0-9]{2})([0-9]{2})"
      "(\\.([0-9]{3}))?([^0-9]|$)");
  const auto part = pattern.numbers_of(name);
  if (!part) return std::nullopt;
  const auto seconds =
      seconds_of((*part)[2], (*part)[3], (*part)[4], (*part)[5], (*part)[6], (*part)[7]);
  if (!seconds) return std::nullopt;
  return *seconds * 1000 + (*part)[9];
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
