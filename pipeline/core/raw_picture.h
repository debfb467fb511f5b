// Uncompressed pictures in the formats of cameras.
#pragma once

#include <array>
#include <cstddef>

namespace lookout {

// Named by the order of the bytes in memory. If pixels share U and V, width and height are even.
enum class RawFormat {
  kBgr,     // B G R, 3 bytes a pixel
  kRgb,     // R G B
  kBgrx,    // B G R and a byte of no meaning
  kRgb565,  // 5, 6 and 5 bits of R, G and B, from the highest of a little-endian word
  kGray,    // Y
  kYuyv,    // Y U Y V for each two pixels
  kYvyu,    // Y V Y U
  kUyvy,    // U Y V Y
  kNv12,    // a plane of Y, a plane of U V for each 2x2 pixels
  kNv21,    // a plane of Y, a plane of V U
  kI420,    // a plane of Y, and one of U and of V for each 2x2 pixels, with half the stride
  kYv12,    // a plane of Y, one of V, one of U
};

// The coefficients between RGB and YUV.
enum class ColorMatrix { kBt601, kBt709 };

struct YuvEncoding {
  ColorMatrix matrix = ColorMatrix::kBt601;
  bool full_range = false;     // luma and chroma are 0..255 instead of 16..235 and 16..240
  bool range_declared = true;  // by the camera; else see RangeMeter
};

// Does not own its planes.
struct RawPicture {
  RawFormat format = RawFormat::kBgr;
  int width = 0;           // pixels
  int height = 0;          // pixels
  int lines = 0;           // of the first plane in memory, if more than `height`
  std::size_t stride = 0;  // bytes from a line to the next, of the first plane
  YuvEncoding encoding;    // of formats with chroma; gray is always 0..255
  std::array<const unsigned char*, 3> planes{};
};

std::size_t plane_count(RawFormat format);

// Whether pixels share U and V.
bool is_subsampled(RawFormat format);

// Bytes from a line of that plane to the next.
std::size_t plane_stride(const RawPicture& picture, std::size_t plane);

// Where the samples of a line of a subsampled picture lie. U and V belong to two pixels each.
struct SampleLine {
  const unsigned char* luma;
  const unsigned char* u;
  const unsigned char* v;
  int luma_step;    // bytes from a sample to the next
  int chroma_step;  // likewise
};
SampleLine sample_line(const RawPicture& picture, int y);

// The minimum size of a plane in bytes; the last line needs no padding. `stride`: of the first
// plane.
std::size_t plane_size(RawFormat format, int width, int height, std::size_t stride,
                       std::size_t plane);

// The minimum bytes of a line of the first plane.
std::size_t min_stride(RawFormat format, int width);

// Sets the planes of a picture in one piece of memory, one after another, as in V4L2.
void set_planes(const unsigned char* memory, RawPicture& picture);

// The minimum size of that memory in bytes.
std::size_t contiguous_size(const RawPicture& picture);

}  // namespace lookout
