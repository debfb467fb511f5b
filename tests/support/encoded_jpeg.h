// A picture as a JPEG.
#pragma once

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

}  // namespace lookout
