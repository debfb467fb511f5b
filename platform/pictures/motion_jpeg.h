// Pictures of cameras that send Motion JPEG.
#pragma once

#include <optional>
#include <string>

namespace lookout {

// The picture as a file that every reader takes: many cameras leave out the Huffman tables, which
// are those of ITU-T T.81, K.3 then, some the end marker, and some send more bytes after that.
// Empty when its header is not that of a JPEG. Does not look at the pixels.
std::optional<std::string> complete_jpeg(std::string jpeg);

}  // namespace lookout
