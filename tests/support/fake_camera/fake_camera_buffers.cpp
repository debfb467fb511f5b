// The fake camera's buffers and the frames that it puts into them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "tests/support/fake_camera/fake_camera.h"
#include "tests/support/fake_camera/fake_camera_system.h"

namespace lookout {
namespace {

constexpr std::uint32_t kMaxBuffers = 32;  // the kernel's
constexpr std::uint32_t kPage = 65536;     // no machine has larger ones
constexpr int kWrongBytes = 16;            // of a corrupt frame
constexpr std::uint32_t kGap = 2;          // frames
constexpr long kSecond = 1'000'000'000;    // nanoseconds
// How long ago a frame was captured when it is taken, so that its stamp can be told from the time
// at which it is.
constexpr long kAge = 50'000'000;    // nanoseconds
constexpr long kLead = 5 * kSecond;  // of a stamp in the future

}  // namespace

int FakeCamera::request_buffers(int fd, v4l2_requestbuffers& request) {
  if (request.type != V4L2_BUF_TYPE_VIDEO_CAPTURE || request.memory != V4L2_MEMORY_MMAP) {
    return EINVAL;
  }
  if (owner_ >= 0 && owner_ != fd) return EBUSY;
  free_buffers();
  if (request.count == 0) return 0;
  request.count = std::min(request.count, kMaxBuffers);
  const std::uint32_t distance = (format_.sizeimage + kPage - 1) / kPage * kPage;
  const std::size_t size = std::size_t{distance} * request.count;
  memory_ = ::memfd_create("fake camera", MFD_CLOEXEC);
  if (memory_ < 0 || ::ftruncate(memory_, static_cast<off_t>(size)) != 0) return ENOMEM;
  void* mapped = next_mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (mapped == MAP_FAILED) return ENOMEM;
  mapped_ = static_cast<std::uint8_t*>(mapped);
  mapped_size_ = size;
  buffers_.resize(request.count);
  for (std::uint32_t i = 0; i < request.count; ++i) {
    v4l2_buffer& buffer = buffers_[i];
    buffer.index = i;
    buffer.type = request.type;
    buffer.memory = request.memory;
    buffer.length = format_.sizeimage;
    buffer.m.offset = i * distance;
  }
  unsigned noise = 0;
  for (Bytes& picture : pictures_) picture = draw_bars(format_, fault("silentrange"), ++noise);
  v4l2_pix_format other = format_;
  other.width = kResizedWidth;
  other.height = kResizedHeight;
  if (format_.pixelformat == V4L2_PIX_FMT_MJPEG) other_ = draw_bars(other, false, noise);
  owner_ = fd;
  return 0;
}

void FakeCamera::free_buffers() {
  stream(false);
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
  if (memory_ >= 0) next_close(memory_);
  mapped_ = nullptr;
  memory_ = -1;
  owner_ = -1;
  buffers_.clear();
}

int FakeCamera::query_buffer(v4l2_buffer& buffer) const {
  if (buffer.index >= buffers_.size()) return EINVAL;
  buffer = buffers_[buffer.index];
  return 0;
}

int FakeCamera::queue(const v4l2_buffer& buffer) {
  if (buffer.index >= buffers_.size()) return EINVAL;
  if (std::find(queued_.begin(), queued_.end(), buffer.index) != queued_.end()) return EINVAL;
  queued_.push_back(buffer.index);
  return 0;
}

int FakeCamera::dequeue(v4l2_buffer& buffer) {
  if (!streaming_) return EINVAL;
  std::uint64_t ticks = 0;
  if (queued_.empty() || ::read(owner_, &ticks, sizeof ticks) < 0) return EAGAIN;
  if (fault("eio")) return EIO;
  sequence_ += static_cast<std::uint32_t>(ticks) + (fault("gaps") ? kGap : 0);
  v4l2_buffer& filled = buffers_[queued_.front()];
  queued_.pop_front();
  fill(filled);
  buffer = filled;
  return 0;
}

void FakeCamera::fill(v4l2_buffer& buffer) {
  const bool error = fault("error");
  const Bytes& current = pictures_[fault("frozen") ? 0 : shown_++ % pictures_.size()];
  const Bytes& picture = fault("othersize") && !other_.empty() ? other_ : current;
  std::uint8_t* data = mapped_ + buffer.m.offset;
  if (!error) std::copy(picture.begin(), picture.end(), data);
  if (fault("corrupt")) {
    for (int i = 0; i < kWrongBytes; ++i) {
      const std::size_t place = random_() % picture.size();
      data[place] = static_cast<std::uint8_t>(random_() >> 8U);
    }
  }
  std::size_t size = fault("short") ? random_() % picture.size() : picture.size();
  if (fault("empty")) size = 0;
  buffer.bytesused = static_cast<std::uint32_t>(size);
  buffer.flags = error ? V4L2_BUF_FLAG_ERROR : 0;
  buffer.field = V4L2_FIELD_NONE;
  buffer.sequence = sequence_;
  buffer.timestamp = {};
  if (fault("unstamped")) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const long captured = now.tv_sec * kSecond + now.tv_nsec + (fault("future") ? kLead : -kAge);
  buffer.timestamp = {captured / kSecond, captured % kSecond / 1000};
  if (!fault("otherclock")) buffer.flags |= V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
}

int FakeCamera::stream(bool on) {
  if (on && fault("crowded")) return ENOSPC;
  if (on && fault("unlinked")) return EPIPE;
  streaming_ = on;
  if (!on) queued_.clear();
  pace(on && !fault("stalled"));
  return 0;
}

void FakeCamera::pace(bool on) {
  if (owner_ < 0 || on == ticking_) return;
  ticking_ = on;
  itimerspec timer{};
  if (on) timer.it_value.tv_nsec = timer.it_interval.tv_nsec = kSecond / fps_;
  ::timerfd_settime(owner_, 0, &timer, nullptr);
}

}  // namespace lookout
