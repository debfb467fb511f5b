// Pictures of cameras that send Motion JPEG.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lookout {

// The picture as a file that every reader takes: many cameras leave out the Huffman tables, which
// are those of ITU-T T.81, K.3 then, some the end marker, and some send more bytes after that.
// Empty when its header is not that of a JPEG. Does not look at the pixels.
std::optional<std::string> complete_jpeg(std::string jpeg);

// How many bytes of a file is_motion_jpeg() looks at.
inline constexpr std::size_t kMotionJpegBytes = 16'000'000;

// Whether a file that begins so is a video: JPEGs of one size, one behind the other, as rpicam-vid
// writes them. Files with a second picture that belongs to the first one are pictures: MPO (CIPA
// DC-007), Google's containers, and what phones append for their own programs.
bool is_motion_jpeg(std::string_view start);

}  // namespace lookout
