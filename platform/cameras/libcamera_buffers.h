// Memory of libcamera's buffers, mapped for reading. Part of liblookout-libcamera.so.
#pragma once

#include <libcamera/libcamera.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/cameras/raw_picture.h"

namespace lookout {

// Used by one thread at a time.
class LibcameraBuffers {
 public:
  LibcameraBuffers() = default;
  ~LibcameraBuffers() { unmap(); }
  LibcameraBuffers(const LibcameraBuffers&) = delete;
  LibcameraBuffers& operator=(const LibcameraBuffers&) = delete;

  // Maps the planes of `buffer`, whose pictures are laid out as `layout`. `camera` is for messages.
  // Throws Error(kDeviceLost) when they cannot be mapped or are smaller than a picture.
  void map(const std::string& camera, const libcamera::FrameBuffer& buffer,
           const RawPicture& layout);

  // Copies a mapped buffer, whose memory is slow to read and wanted back by the camera, into memory
  // that is valid until the next call, and points the planes of `picture` to it.
  void copy_out(const libcamera::FrameBuffer& buffer, RawPicture& picture);

  void unmap();

 private:
  struct Plane {
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    int fd = -1;
  };

  const std::uint8_t* map(const std::string& camera, int fd, std::size_t length);

  std::map<int, std::pair<void*, std::size_t>> mapped_;  // by descriptor
  std::map<const libcamera::FrameBuffer*, std::vector<Plane>> planes_;
  std::array<std::vector<unsigned char>, 2> copies_;  // of the planes
};

}  // namespace lookout
