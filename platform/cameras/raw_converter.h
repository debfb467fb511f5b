// Uncompressed pictures of cameras, converted to BGR. Touches no device.
#pragma once

#include <array>
#include <opencv2/core/mat.hpp>

#include "pipeline/core/frame.h"
#include "pipeline/core/raw_picture.h"

namespace lookout {

class RawConverter {
 public:
  // Writes `bgr` (CV_8UC3), which is allocated when its size differs. Otherwise only the first
  // picture of a size allocates memory. BT.601 is converted by OpenCV, which knows no BT.709.
  void convert(const RawPicture& picture, cv::Mat& bgr);

 private:
  void convert_planes(const RawPicture& picture, cv::Mat& bgr);
  void convert_packed(const RawPicture& picture, cv::Mat& bgr);

  cv::Mat chroma_;                  // both planes of chroma, interleaved for OpenCV
  std::array<cv::Mat, 2> limited_;  // the planes of a full-range picture, in the limited range
};

// Copies the camera's memory into `frame`: as it is when pixels share U and V, otherwise as BGR.
// Allocates when the size grows.
void take_picture(const RawPicture& picture, Frame& frame);

}  // namespace lookout
