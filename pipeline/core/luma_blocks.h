// A coarse picture of what is classified, to tell whether anything changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookout {

// Mean luma of square blocks, row by row as they lie in the frame.
struct LumaBlocks {
  static constexpr int kUnit = 128;  // a level of 0..255

  std::vector<std::uint16_t> means;   // 0..255 * kUnit
  std::vector<std::size_t> row_ends;  // one past the last block of each row that has one
};

}  // namespace lookout
