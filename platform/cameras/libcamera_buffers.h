// Memory of libcamera's buffers: taken from the kernel, and mapped for reading.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "platform/cameras/raw_picture.h"
#include "platform/libcamera/libcamera_module.h"

namespace lookout {

// Used by one thread at a time.
class LibcameraBuffers {
 public:
  LibcameraBuffers() = default;
  ~LibcameraBuffers();
  LibcameraBuffers(const LibcameraBuffers&) = delete;
  LibcameraBuffers& operator=(const LibcameraBuffers&) = delete;

  // Takes `count` buffers of `size` bytes from the kernel's heap for cameras: memory that the
  // processor reads through its cache, unlike that of most drivers. Returns their descriptors, or
  // nothing where there is no such heap, no right to it, or no room.
  const std::vector<int>& allocate(std::size_t count, std::size_t size);

  // The heap, as "/dev/dma_heap/linux,cma"; empty: the driver allocates.
  const std::string& heap() const { return heap_; }

  // Points the planes of `picture` to the frame's memory, which may be read while a FrameAccess
  // lives. Throws Error(kDeviceLost) when the frame cannot be mapped or is smaller than the
  // picture. `camera` is for messages.
  void map(const std::string& camera, const LookoutFrame& frame, RawPicture& picture);

 private:
  struct Mapping {
    void* memory = nullptr;
    std::size_t size = 0;
  };

  bool allocate_from(const std::string& heap, std::size_t count, std::size_t size);
  void close_all();
  const unsigned char* address(const std::string& camera, const LookoutPlane& plane);

  std::string heap_;
  std::vector<int> allocated_;
  std::map<int, Mapping> mapped_;  // by descriptor
};

// Tells the kernel that the processor reads a frame. Memory that is not a DMA buffer's ignores it.
class FrameAccess {
 public:
  explicit FrameAccess(const LookoutFrame& frame);
  ~FrameAccess();
  FrameAccess(const FrameAccess&) = delete;
  FrameAccess& operator=(const FrameAccess&) = delete;

 private:
  const LookoutFrame& frame_;
};

}  // namespace lookout
