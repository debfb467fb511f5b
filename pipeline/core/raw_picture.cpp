#include "pipeline/core/raw_picture.h"

#include <algorithm>

namespace lookout {
namespace {

// Where the samples of a format lie.
struct Layout {
  int pixel_bytes;  // in the first plane
  // For formats whose pixels share U and V, else 0; see SampleLine.
  int luma_offset = 0;
  int luma_step = 0;
  std::size_t u_plane = 0;
  int u_offset = 0;
  std::size_t v_plane = 0;
  int v_offset = 0;
  int chroma_step = 0;
};

// In the order of RawFormat.
constexpr std::array<Layout, 12> kLayouts{{
    {3},                       // kBgr
    {3},                       // kRgb
    {4},                       // kBgrx
    {2},                       // kRgb565
    {1},                       // kGray
    {2, 0, 2, 0, 1, 0, 3, 4},  // kYuyv
    {2, 0, 2, 0, 3, 0, 1, 4},  // kYvyu
    {2, 1, 2, 0, 0, 0, 2, 4},  // kUyvy
    {1, 0, 1, 1, 0, 1, 1, 2},  // kNv12
    {1, 0, 1, 1, 1, 1, 0, 2},  // kNv21
    {1, 0, 1, 1, 0, 2, 0, 1},  // kI420
    {1, 0, 1, 2, 0, 1, 0, 1},  // kYv12
}};

const Layout& layout_of(RawFormat format) { return kLayouts.at(static_cast<std::size_t>(format)); }
// The chroma planes of kI420 and kYv12 have half of the first plane's stride, all others the same.
std::size_t stride_of(RawFormat format, std::size_t stride, std::size_t plane) {
  return plane_count(format) == 3 && plane > 0 ? stride / 2 : stride;
}

// The offset of a plane in contiguous memory. With an odd number of lines the last one has a line
// of chroma, too.
std::size_t offset_of(const RawPicture& picture, std::size_t plane) {
  const int luma_lines = std::max(picture.lines, picture.height);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < plane; ++i) {
    const int lines = i == 0 ? luma_lines : (luma_lines + 1) / 2;
    offset += static_cast<std::size_t>(lines) * stride_of(picture.format, picture.stride, i);
  }
  return offset;
}

}  // namespace

std::size_t plane_count(RawFormat format) {
  return std::max(layout_of(format).u_plane, layout_of(format).v_plane) + 1;
}

bool is_subsampled(RawFormat format) { return layout_of(format).chroma_step > 0; }

std::size_t min_stride(RawFormat format, int width) {
  return static_cast<std::size_t>(layout_of(format).pixel_bytes) * static_cast<std::size_t>(width);
}

std::size_t plane_stride(const RawPicture& picture, std::size_t plane) {
  return stride_of(picture.format, picture.stride, plane);
}

SampleLine sample_line(const RawPicture& picture, int y) {
  const Layout& layout = layout_of(picture.format);
  const auto line = [&](std::size_t plane) {
    const auto number = static_cast<std::size_t>(plane == 0 ? y : y / 2);
    return picture.planes.at(plane) + number * plane_stride(picture, plane);
  };
  return {line(0) + layout.luma_offset, line(layout.u_plane) + layout.u_offset,
          line(layout.v_plane) + layout.v_offset, layout.luma_step, layout.chroma_step};
}

std::size_t plane_size(RawFormat format, int width, int height, std::size_t stride,
                       std::size_t plane) {
  const auto lines = static_cast<std::size_t>(plane == 0 ? height : height / 2);
  const std::size_t line = stride_of(format, min_stride(format, width), plane);
  return lines == 0 ? 0 : (lines - 1) * stride_of(format, stride, plane) + line;
}

void set_planes(const unsigned char* memory, RawPicture& picture) {
  for (std::size_t i = 0; i < plane_count(picture.format); ++i) {
    picture.planes[i] = memory + offset_of(picture, i);
  }
}

std::size_t contiguous_size(const RawPicture& picture) {
  const std::size_t last = plane_count(picture.format) - 1;
  return offset_of(picture, last) +
         plane_size(picture.format, picture.width, picture.height, picture.stride, last);
}

}  // namespace lookout
