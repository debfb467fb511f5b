// When pictures were taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

struct PictureTime {
  enum class Origin {
    kExif,  // DateTimeOriginal
    kName,  // as `lookout collect` and most cameras write it: 20271122T101500.123Z
    kFile,  // when the file was last changed
  };

  std::int64_t ms = 0;  // since 1970
  Origin origin = Origin::kFile;

  bool is_taken() const { return origin != Origin::kFile; }
  int hour() const;  // 0..23, of the clock that wrote it
};

// The time in a file's name: eight digits of the date, T or _ or -, and six of the time, perhaps
// with milliseconds. In milliseconds since 1970.
std::optional<std::int64_t> time_in_name(const std::string& name);

// The first of these origins that a file has.
PictureTime time_of(const std::string& file);

// Whether the times tell the order in which the pictures were taken. Times of files do not when
// half of them or more were written faster than 20 a second: they were copied or unpacked. Nor can
// they be compared with the times of pictures that have their own.
bool tell_order(const std::vector<PictureTime>& times);

}  // namespace lookout
