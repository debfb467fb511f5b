#include "platform/cameras/libcamera_buffers.h"

#include <fmt/format.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "pipeline/error.h"

namespace lookout {
namespace {

namespace lc = libcamera;

// Announces to the kernel that the processor reads a buffer; memory that is not a DMA buffer's
// ignores it.
class ReadAccess {
 public:
  explicit ReadAccess(int fd) : fd_(fd) { sync(DMA_BUF_SYNC_START); }
  ~ReadAccess() { sync(DMA_BUF_SYNC_END); }
  ReadAccess(const ReadAccess&) = delete;
  ReadAccess& operator=(const ReadAccess&) = delete;

 private:
  void sync(std::uint64_t what) const {
    dma_buf_sync argument{};
    argument.flags = DMA_BUF_SYNC_READ | what;
    ::ioctl(fd_, DMA_BUF_IOCTL_SYNC, &argument);
  }
  int fd_;
};

std::size_t size_of(const RawPicture& picture, std::size_t plane) {
  return plane_size(picture.format, picture.width, picture.height, picture.stride, plane);
}

}  // namespace

void LibcameraBuffers::map(const std::string& camera, const lc::FrameBuffer& buffer,
                           const RawPicture& layout) {
  const std::size_t count = plane_count(layout.format);
  std::vector<Plane>& planes = planes_[&buffer];
  for (const lc::FrameBuffer::Plane& plane : buffer.planes()) {
    // libcamera 0.4's virtual camera has further planes, which hold nothing.
    if (planes.size() == count) break;
    const int fd = plane.fd.get();
    planes.push_back(
        {map(camera, fd, plane.offset + plane.length) + plane.offset, plane.length, fd});
  }
  bool enough = planes.size() == count;
  for (std::size_t i = 0; enough && i < count; ++i) enough = planes[i].size >= size_of(layout, i);
  if (enough) return;
  throw Error(ErrorKind::kDeviceLost,
              fmt::format("camera {} gives buffers that are smaller than its picture", camera));
}

// The first `length` bytes of a descriptor, of which other planes may have been mapped already.
const std::uint8_t* LibcameraBuffers::map(const std::string& camera, int fd, std::size_t length) {
  const auto size = static_cast<std::size_t>(std::max<off_t>(0, ::lseek(fd, 0, SEEK_END)));
  const auto known = mapped_.find(fd);
  if (known != mapped_.end()) return static_cast<const std::uint8_t*>(known->second.first);
  const std::size_t all = std::max(size, length);
  void* memory = ::mmap(nullptr, all, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {}: its memory cannot be read: {}", camera,
                            std::generic_category().message(errno)));
  }
  mapped_[fd] = {memory, all};
  return static_cast<const std::uint8_t*>(memory);
}

void LibcameraBuffers::copy_out(const lc::FrameBuffer& buffer, RawPicture& picture) {
  const std::vector<Plane>& planes = planes_.at(&buffer);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const ReadAccess access(planes[i].fd);
    const std::size_t size = size_of(picture, i);
    copies_[i].resize(size);
    std::memcpy(copies_[i].data(), planes[i].data, size);
    picture.planes[i] = copies_[i].data();
  }
}

void LibcameraBuffers::unmap() {
  for (const auto& entry : mapped_) ::munmap(entry.second.first, entry.second.second);
  mapped_.clear();
  planes_.clear();
}

}  // namespace lookout
