// Formats of pictures, by the first bytes of a file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lookout {

enum class PictureFormat { kOther, kJpeg, kPng, kWebp, kTiff, kBmp };

// How many bytes the functions below look at.
inline constexpr std::size_t kFormatBytes = 32;

// That of a picture that can be read; kOther for all others.
PictureFormat picture_format(std::string_view start);

inline constexpr std::string_view kHeic = "HEIC";

// The name of a known format, also of those above, with its article where it has one: "TIFF",
// kHeic, "a PDF". Empty for others.
std::string_view format_name(std::string_view start);

// The end of a sentence when the format is known but not read as a picture or video, or is an
// animated WebP: "is a HEIC picture, which is not supported; ...". Empty for others.
std::optional<std::string> unreadable_format(std::string_view start);

}  // namespace lookout
