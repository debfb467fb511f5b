// A camera's format and buffers, with any stride and sizes: a picture of the granted size, or none;
// and a model's picture of it.
// Its first bytes are the format, the rest is what the driver gave.
#include "platform/cameras/raw_converter.h"

#include <linux/videodev2.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "pipeline/model/preprocessor.h"
#include "platform/cameras/color_range.h"
#include "platform/cameras/v4l2_picture.h"
#include "tests/fuzz/guarded_bytes.h"

namespace {

constexpr std::array<std::uint32_t, 13> kFormats{
    V4L2_PIX_FMT_BGR24,  V4L2_PIX_FMT_RGB24, V4L2_PIX_FMT_GREY, V4L2_PIX_FMT_YUYV,
    V4L2_PIX_FMT_UYVY,   V4L2_PIX_FMT_NV12,  V4L2_PIX_FMT_NV21, V4L2_PIX_FMT_YUV420,
    V4L2_PIX_FMT_YVU420, V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_YVYU, V4L2_PIX_FMT_XBGR32,
    V4L2_PIX_FMT_RGB565};

struct Bytes {
  const unsigned char* data;
  std::size_t size;
};

unsigned int take(Bytes& bytes) {
  if (bytes.size == 0) return 0;
  --bytes.size;
  return *bytes.data++;
}

// Sides are small, so that pictures fit into an input. A stride may be too small, or larger than
// any buffer.
lookout::V4l2Format take_format(Bytes& bytes, v4l2_pix_format& colors) {
  lookout::V4l2Format format;
  format.fourcc = kFormats[take(bytes) % kFormats.size()];
  format.width = static_cast<int>(take(bytes) % 96) + 1;
  format.height = static_cast<int>(take(bytes) % 48) + 1;
  format.stride = take(bytes) | take(bytes) << 8U | take(bytes) << 24U;
  colors.colorspace = take(bytes) % 16;
  colors.ycbcr_enc = take(bytes) % 12;
  colors.quantization = take(bytes) % 4;
  format.encoding = lookout::yuv_encoding_of(colors);
  return format;
}

// As V4l2Source has its planes: one after the other in a buffer.
bool in_one_buffer(const Bytes& bytes, lookout::RawPicture& picture) {
  static lookout::GuardedBytes memory;
  if (bytes.size < lookout::contiguous_size(picture)) return false;
  lookout::set_planes(memory.hold(bytes.data, bytes.size), picture);
  return true;
}

// As LibcameraBuffers has them: each in its own.
bool in_several_buffers(Bytes bytes, lookout::RawPicture& picture) {
  static std::array<lookout::GuardedBytes, 3> memory;
  for (std::size_t i = 0; i < lookout::plane_count(picture.format); ++i) {
    const std::size_t size =
        lookout::plane_size(picture.format, picture.width, picture.height, picture.stride, i);
    if (bytes.size < size) return false;
    picture.planes[i] = memory[i].hold(bytes.data, size);
    bytes = {bytes.data + size, bytes.size - size};
  }
  return true;
}

// A quarter turn of a part that begins and ends at odd pixels in many sizes.
void preprocess(const lookout::RawPicture& picture) {
  lookout::InputSpec spec;
  spec.width = 20;
  spec.height = 11;
  static lookout::Preprocessor preprocessor(spec, {90, true, false, {0.1, 0.2, 0.7, 0.6}});
  static lookout::Preprocessor whole(spec, {});
  lookout::ImageTensor out;
  preprocessor.run(picture, out);
  whole.run(picture, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes{data, size};
  v4l2_pix_format colors{};
  const bool several = take(bytes) % 2 != 0;
  const lookout::V4l2Format format = take_format(bytes, colors);
  std::optional<lookout::RawPicture> picture = lookout::raw_picture_of(format);
  if (!picture || picture->width == 0 || picture->height == 0) return 0;
  if (several ? !in_several_buffers(bytes, *picture) : !in_one_buffer(bytes, *picture)) return 0;
  if (lookout::is_subsampled(picture->format)) {
    lookout::luma_outside(*picture);
    preprocess(*picture);
  }
  cv::Mat bgr;
  convert_to_bgr(*picture, bgr);
  if (bgr.cols != picture->width || bgr.rows != picture->height || bgr.type() != CV_8UC3) {
    std::abort();
  }
  return 0;
}
