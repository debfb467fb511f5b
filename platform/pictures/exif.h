// EXIF data of a picture: how the camera was held, and when. `data`: a TIFF header and what follows
// it, after "Exif\0\0" or, as WebP files have it, without that.
#pragma once

#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string_view>

namespace lookout {

inline constexpr int kUpright = 1;

// The orientation (1..8, tag 0x0112); kUpright when there is none or it cannot be read.
int exif_orientation(std::string_view data);

// Turns and mirrors a picture of that orientation in place, so that it is upright.
void turn_upright(int orientation, cv::Mat& picture);

// Seconds since 1970 of the time DateTimeOriginal (tag 0x9003), which is that of the camera's
// clock, taken for UTC. Nothing when there is none or it cannot be read.
std::optional<std::int64_t> exif_time(std::string_view data);

// Seconds since 1970 of a date and time in UTC; nothing when there is no such time.
std::optional<std::int64_t> seconds_of(int year, int month, int day, int hour, int minute,
                                       int second);

}  // namespace lookout
