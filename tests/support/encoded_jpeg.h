// A picture as a JPEG.
#pragma once

#include <algorithm>
#include <cstdint>
#include <opencv2/imgcodecs.hpp>
#include <vector>

namespace lookout {

using Bytes = std::vector<std::uint8_t>;

// `parameters`: of cv::imencode().
inline Bytes encoded(const cv::Mat& picture, const std::vector<int>& parameters = {}) {
  Bytes jpeg;
  cv::imencode(".jpg", picture, jpeg, parameters);
  return jpeg;
}

// As many cameras leave them out.
inline Bytes without_huffman_tables(Bytes jpeg) {
  const Bytes marker{0xff, 0xc4};
  for (;;) {
    const auto table = std::search(jpeg.begin(), jpeg.end(), marker.begin(), marker.end());
    if (table == jpeg.end()) return jpeg;
    jpeg.erase(table, table + 2 + table[2] * 256 + table[3]);
  }
}

}  // namespace lookout
