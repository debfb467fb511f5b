#include "platform/cameras/libcamera_buffers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

// The first that is there, as in rpicam-apps: Raspberry Pi OS's name for the cached heap of the
// board, then the kernel's for its contiguous memory, before and since Linux 6.17.
const std::array<const char*, 4> kHeaps{"vidbuf_cached", "linux,cma", "default_cma_region",
                                        "reserved"};

void sync(const LookoutFrame& frame, std::uint64_t what) {
  dma_buf_sync argument{};
  argument.flags = DMA_BUF_SYNC_READ | what;
  for (std::size_t i = 0; i < frame.plane_count; ++i) {
    ::ioctl(frame.planes[i].fd, DMA_BUF_IOCTL_SYNC, &argument);
  }
}

}  // namespace

LibcameraBuffers::~LibcameraBuffers() {
  for (const auto& entry : mapped_) ::munmap(entry.second.memory, entry.second.size);
  close_all();
}

const std::vector<int>& LibcameraBuffers::allocate(std::size_t count, std::size_t size) {
  for (const std::string name : kHeaps) {
    const std::string heap = "/dev/dma_heap/" + name;
    if (!allocate_from(heap, count, size)) continue;
    heap_ = heap;
    break;
  }
  return allocated_;
}

bool LibcameraBuffers::allocate_from(const std::string& heap, std::size_t count, std::size_t size) {
  const int device = ::open(heap.c_str(), O_RDWR | O_CLOEXEC);
  if (device < 0) return false;
  dma_heap_allocation_data request{};
  while (allocated_.size() < count) {
    request = {};
    request.len = size;
    request.fd_flags = O_RDWR | O_CLOEXEC;
    if (::ioctl(device, DMA_HEAP_IOCTL_ALLOC, &request) != 0) break;
    allocated_.push_back(static_cast<int>(request.fd));
  }
  ::close(device);
  const bool complete = allocated_.size() == count;
  if (!complete) close_all();
  return complete;
}

void LibcameraBuffers::close_all() {
  for (const int fd : allocated_) ::close(fd);
  allocated_.clear();
}

const unsigned char* LibcameraBuffers::address(const std::string& camera,
                                               const LookoutPlane& plane) {
  auto mapping = mapped_.find(plane.fd);
  if (mapping == mapped_.end()) {
    const auto all = static_cast<std::size_t>(std::max<off_t>(0, ::lseek(plane.fd, 0, SEEK_END)));
    const std::size_t size = std::max(all, plane.offset + plane.size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, plane.fd, 0);
    if (memory == MAP_FAILED) {
      throw Error(ErrorKind::kDeviceLost,
                  fmt::format("camera {}: its memory cannot be read: {}", camera,
                              std::generic_category().message(errno)));
    }
    mapping = mapped_.emplace(plane.fd, Mapping{memory, size}).first;
  }
  return static_cast<const unsigned char*>(mapping->second.memory) + plane.offset;
}

void LibcameraBuffers::map(const std::string& camera, const LookoutFrame& frame,
                           RawPicture& picture) {
  // libcamera 0.4's virtual camera has further planes, which hold nothing.
  const std::size_t count = plane_count(picture.format);
  bool enough = frame.plane_count >= count;
  for (std::size_t i = 0; enough && i < count; ++i) {
    const std::size_t size =
        plane_size(picture.format, picture.width, picture.height, picture.stride, i);
    enough = frame.planes[i].size >= size;
    if (enough) picture.planes[i] = address(camera, frame.planes[i]);
  }
  if (enough) return;
  throw Error(ErrorKind::kDeviceLost,
              fmt::format("camera {} gives buffers that are smaller than its picture", camera));
}

FrameAccess::FrameAccess(const LookoutFrame& frame) : frame_(frame) {
  sync(frame_, DMA_BUF_SYNC_START);
}

FrameAccess::~FrameAccess() { sync(frame_, DMA_BUF_SYNC_END); }

}  // namespace lookout
