// Pictures as cameras deliver them, and their way to BGR: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <opencv2/core/mat.hpp>

namespace lookout {

// By the order of the bytes in memory.
enum class RawFormat {
  kBgr,   // B G R, 3 bytes a pixel
  kRgb,   // R G B
  kNv12,  // a plane of Y, a plane of U V for each 2x2 pixels; width and height are even
  kYuyv,  // Y U Y V for each two pixels; the width is even
};

// Does not own its planes.
struct RawPicture {
  RawFormat format = RawFormat::kBgr;
  int width = 0;           // pixels
  int height = 0;          // pixels
  std::size_t stride = 0;  // bytes from a line to the next, of all planes
  // Luma and chroma (BT.601) are 0..255 instead of 16..235 and 16..240.
  bool full_range = false;
  std::array<const unsigned char*, 2> planes{};
};

std::size_t plane_count(RawFormat format);

// Bytes that a plane has at least; the last line needs no padding.
std::size_t plane_size(RawFormat format, int width, int height, std::size_t stride,
                       std::size_t plane);

// Fewest bytes of a line.
std::size_t least_stride(RawFormat format, int width);

// Writes `bgr` (CV_8UC3, made when it is of another size).
class RawConverter {
 public:
  void convert(const RawPicture& picture, cv::Mat& bgr);

 private:
  std::array<cv::Mat, 2> limited_;  // the planes of a full-range picture, in OpenCV's range
};

}  // namespace lookout
