// Pictures of a V4L2 format: their layout in memory and their colors. Pure.
#pragma once

#include <linux/videodev2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pipeline/core/raw_picture.h"

namespace lookout {

struct ReadableFormat {
  std::uint32_t fourcc;          // V4L2_PIX_FMT_...
  std::optional<RawFormat> raw;  // nothing: JPEGs
};

// The formats that can be converted to BGR, cheapest first.
inline constexpr std::array<ReadableFormat, 16> kReadableFormats{{
    {V4L2_PIX_FMT_BGR24, RawFormat::kBgr},
    {V4L2_PIX_FMT_YUYV, RawFormat::kYuyv},
    {V4L2_PIX_FMT_UYVY, RawFormat::kUyvy},
    {V4L2_PIX_FMT_NV12, RawFormat::kNv12},
    {V4L2_PIX_FMT_YUV420, RawFormat::kI420},
    {V4L2_PIX_FMT_NV21, RawFormat::kNv21},
    {V4L2_PIX_FMT_RGB24, RawFormat::kRgb},
    {V4L2_PIX_FMT_YVU420, RawFormat::kYv12},
    {V4L2_PIX_FMT_YVYU, RawFormat::kYvyu},
    {V4L2_PIX_FMT_XBGR32, RawFormat::kBgrx},
    {V4L2_PIX_FMT_ABGR32, RawFormat::kBgrx},
    {V4L2_PIX_FMT_BGR32, RawFormat::kBgrx},
    {V4L2_PIX_FMT_MJPEG, std::nullopt},
    {V4L2_PIX_FMT_JPEG, std::nullopt},
    {V4L2_PIX_FMT_RGB565, RawFormat::kRgb565},
    {V4L2_PIX_FMT_GREY, RawFormat::kGray},
}};

// The format that a driver granted.
struct V4l2Format {
  std::uint32_t fourcc = 0;  // V4L2_PIX_FMT_...
  int width = 0;             // pixels
  int height = 0;            // pixels
  std::size_t stride = 0;    // bytes from a line to the next; meaningless for compressed pictures
  YuvEncoding encoding;      // meaningless for RGB and JPEG
  double fps = 0;            // frames a second; 0: unknown
};

// By the format's color space, encoding and quantization, with the kernel's rules for what the
// driver left at its default (V4L2_MAP_YCBCR_ENC_DEFAULT, V4L2_MAP_QUANTIZATION_DEFAULT). A limited
// range by default is not declared: many webcams have the full one.
YuvEncoding yuv_encoding_of(const v4l2_pix_format& format);

// A picture of that format without its planes; see set_planes(). Where pixels share U and V, half a
// pixel at an odd edge is cut off. Nothing for JPEGs and formats that cannot be read.
std::optional<RawPicture> raw_picture_of(const V4l2Format& format);

}  // namespace lookout
