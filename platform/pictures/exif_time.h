// When a photograph was taken, by the EXIF data of a picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lookout {

// Seconds since 1970 of the time DateTimeOriginal (tag 0x9003), which is that of the camera's
// clock, taken for UTC. Nothing when there is none or it cannot be read. `data` as for
// exif_orientation().
std::optional<std::int64_t> exif_time(const unsigned char* data, std::size_t size);

// The same of a JPEG file's content, of which the beginning suffices.
std::optional<std::int64_t> exif_time_of_jpeg(std::string_view content);

// Seconds since 1970 of a date and time in UTC; nothing when there is no such time.
std::optional<std::int64_t> seconds_of(int year, int month, int day, int hour, int minute,
                                       int second);

}  // namespace lookout
