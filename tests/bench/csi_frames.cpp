// Takes frames of a CSI camera that is not there, for instructions.py: what lookout does with a
// frame from libcamera's buffer to the picture that is classified.
//
//   csi_frames FORMAT WIDTH HEIGHT FRAMES    FORMAT: RGB888 (B G R in memory) or NV12
//
// Lines are a multiple of 32 bytes, as on a Raspberry Pi 4.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "platform/cameras/libcamera_source.h"
#include "tests/support/fake_libcamera.h"

namespace lookout {
namespace {

constexpr std::uint32_t kRgb888 = 0x34324752;  // DRM's RG24
constexpr std::uint32_t kNv12 = 0x3231564e;
constexpr std::uint32_t kAlignment = 32;  // bytes
constexpr std::size_t kMemory = 1U << 22U;

LookoutStream stream;

int configure(LookoutCamera* /*camera*/, const LookoutStreamRequest* request,
              LookoutStream* granted) {
  if (request->fourcc != fake_libcamera.fourcc) return -EINVAL;
  const int line = request->fourcc == kNv12 ? request->width : 3 * request->width;
  stream = {};
  stream.width = request->width;
  stream.height = request->height;
  stream.stride = (static_cast<std::uint32_t>(line) + kAlignment - 1) / kAlignment * kAlignment;
  stream.frame_size = kMemory;
  *granted = stream;
  return 0;
}

int next_frame(LookoutCamera* /*camera*/, std::int32_t /*timeout_ms*/, LookoutFrame* frame) {
  *frame = {};
  frame->planes[0] = {fake_libcamera.memory, 0, kMemory};
  frame->plane_count = 1;
  if (fake_libcamera.fourcc == kNv12) {
    const std::size_t luma = static_cast<std::size_t>(stream.stride) * stream.height;
    frame->planes[1] = {fake_libcamera.memory, luma, kMemory - luma};
    frame->plane_count = 2;
  }
  return 0;
}

// A picture in which every byte differs from its neighbours.
int make_memory() {
  const int memory = ::memfd_create("frame", MFD_CLOEXEC);
  std::vector<unsigned char> pixels(kMemory);
  for (std::size_t i = 0; i < kMemory; ++i) pixels[i] = static_cast<unsigned char>(i * 7);
  if (::write(memory, pixels.data(), kMemory) != static_cast<ssize_t>(kMemory)) std::abort();
  return memory;
}

int run(const std::string& format, int width, int height, int frames) {
  fake_libcamera.cameras = {{"/base/soc/i2c0mux/i2c@1/imx219@10", "imx219"}};
  fake_libcamera.fourcc = format == "NV12" ? kNv12 : kRgb888;
  fake_libcamera.memory = make_memory();
  LookoutLibcamera module = fake_libcamera_module();
  module.configure = configure;
  module.next_frame = next_frame;
  SourceOptions options;
  options.width = width;
  options.height = height;
  LibcameraSource source(module, "0", options);
  Frame frame;
  for (int i = 0; i < frames; ++i) {
    if (source.read(frame, std::chrono::seconds(1)) != ReadStatus::kFrame) return 1;
  }
  std::cout << source.info().description << ": " << frames << " frames\n";
  return 0;
}

}  // namespace
}  // namespace lookout

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: csi_frames FORMAT WIDTH HEIGHT FRAMES\n";
    return 64;
  }
  try {
    return lookout::run(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
  } catch (const std::exception& error) {
    std::cerr << "csi_frames: " << error.what() << '\n';
    return 1;
  }
}
