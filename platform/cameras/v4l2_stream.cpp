#include "platform/cameras/v4l2_stream.h"

#include <fmt/format.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "platform/cameras/frame_time.h"

namespace lookout {
namespace {

constexpr std::uint32_t kBuffers = 4;
// The driver may keep a buffer at each failure.
constexpr int kMaxFailures = kBuffers;

Clock::time_point time_of(const v4l2_buffer& buffer) {
  const auto now = Clock::now();
  if ((buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) != V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) {
    return now;
  }
  const Clock::time_point stamp(std::chrono::seconds(buffer.timestamp.tv_sec) +
                                std::chrono::microseconds(buffer.timestamp.tv_usec));
  return frame_time(stamp, now);
}

v4l2_buffer make_buffer(std::uint32_t index = 0) {
  v4l2_buffer buffer{};
  buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  buffer.memory = V4L2_MEMORY_MMAP;
  buffer.index = index;
  return buffer;
}

}  // namespace

V4l2Stream::Mapping::~Mapping() {
  if (start_ != nullptr) ::munmap(start_, length_);
}

V4l2Stream::Mapping::Mapping(Mapping&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), length_(other.length_) {}

V4l2Stream::V4l2Stream(const V4l2Device& device, std::string path, const CameraMode& mode)
    : device_(device), path_(std::move(path)) {
  set_format(mode);
  set_rate(mode.framerate);
  map_buffers();
  if (is_in_pipeline(device.info())) try_out();
}

// Frees the buffers explicitly: closing the device is not enough while a child process that is
// being started has it open, too.
V4l2Stream::~V4l2Stream() {
  mappings_.clear();
  v4l2_requestbuffers none{};
  none.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  none.memory = V4L2_MEMORY_MMAP;
  device_.control(VIDIOC_REQBUFS, &none);  // also stops the camera
}

void V4l2Stream::set_format(const CameraMode& mode) {
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  v4l2_pix_format& pix = format.fmt.pix;
  pix.width = static_cast<std::uint32_t>(mode.width);
  pix.height = static_cast<std::uint32_t>(mode.height);
  pix.pixelformat = mode.fourcc;
  pix.field = V4L2_FIELD_ANY;
  pix.priv = V4L2_PIX_FMT_PRIV_MAGIC;  // for the encoding and quantization
  if (!device_.control(VIDIOC_S_FMT, &format)) throw refused();
  format_.fourcc = pix.pixelformat;
  format_.width = static_cast<int>(pix.width);
  format_.height = static_cast<int>(pix.height);
  format_.stride = pix.bytesperline;
  format_.encoding = yuv_encoding_of(pix);
}

// Drivers that cannot change their rate may still report it.
void V4l2Stream::set_rate(double fps) {
  v4l2_streamparm parameters{};
  parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  v4l2_captureparm& capture = parameters.parm.capture;
  const FrameInterval wanted = interval_of(fps);
  capture.timeperframe = {wanted.numerator, wanted.denominator};
  if (!device_.control(VIDIOC_S_PARM, &parameters) &&
      !device_.control(VIDIOC_G_PARM, &parameters)) {
    return;
  }
  if ((capture.capability & V4L2_CAP_TIMEPERFRAME) == 0) return;
  format_.fps = rate_of({capture.timeperframe.numerator, capture.timeperframe.denominator});
}

void V4l2Stream::map_buffers() {
  v4l2_requestbuffers request{};
  request.count = kBuffers;
  request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  request.memory = V4L2_MEMORY_MMAP;
  if (!device_.control(VIDIOC_REQBUFS, &request)) throw refused();
  mappings_.reserve(request.count);
  for (std::uint32_t i = 0; i < request.count; ++i) {
    v4l2_buffer buffer = make_buffer(i);
    if (!device_.control(VIDIOC_QUERYBUF, &buffer)) throw refused();
    // Only read, but some drivers refuse a mapping that cannot be written.
    void* start = ::mmap(nullptr, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, device_.fd(),
                         static_cast<off_t>(buffer.m.offset));
    if (start == MAP_FAILED) throw refused();
    mappings_.emplace_back(start, buffer.length);
  }
}

void V4l2Stream::queue(std::uint32_t index) {
  v4l2_buffer buffer = make_buffer(index);
  if (!device_.control(VIDIOC_QBUF, &buffer)) throw lost();
}

void V4l2Stream::start() {
  for (std::uint32_t i = 0; i < mappings_.size(); ++i) queue(i);
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (!device_.control(VIDIOC_STREAMON, &type)) {
    if (is_in_pipeline(device_.info())) throw not_a_camera(path_, NodeKind::kPipeline);
    // The USB core returns ENOSPC when the bus has no bandwidth left.
    const std::string why =
        errno == ENOSPC
            ? "other devices use too much of the USB bus; ask for less with camera.width, "
              "camera.height and camera.framerate, or plug the camera into another port"
            : std::generic_category().message(errno);
    throw Error(ErrorKind::kDeviceLost, fmt::format("camera {} cannot be started: {}", path_, why));
  }
  started_ = true;
}

// A node in a pipeline accepts every format, and fails when it is started if the nodes before it
// give another one.
void V4l2Stream::try_out() {
  start();
  started_ = false;
  int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (!device_.control(VIDIOC_STREAMOFF, &type)) throw lost();
}

// Whether there is a buffer to take.
bool V4l2Stream::wait(std::chrono::milliseconds timeout) const {
  pollfd device{device_.fd(), POLLIN, 0};
  const int count = ::poll(&device, 1, std::max(0, static_cast<int>(timeout.count())));
  if (count < 0 && errno != EINTR) throw lost();
  if (count <= 0) return false;
  if ((device.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) throw lost();
  return true;
}

std::optional<V4l2Buffer> V4l2Stream::take(std::chrono::milliseconds timeout) {
  if (!started_) start();
  if (!wait(timeout)) return std::nullopt;
  v4l2_buffer buffer = make_buffer();
  if (!device_.control(VIDIOC_DQBUF, &buffer)) {
    if (errno == EAGAIN) return std::nullopt;
    if (errno == EIO && ++failures_ < kMaxFailures)
      return std::nullopt;  // such as a short loss of signal
    throw lost();
  }
  failures_ = 0;
  const Mapping& mapping = mappings_.at(buffer.index);
  V4l2Buffer filled;
  filled.index = buffer.index;
  filled.data = mapping.data();
  filled.size = std::min<std::size_t>(buffer.bytesused, mapping.size());
  filled.damaged = (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0;
  filled.sequence = buffer.sequence;
  filled.captured = time_of(buffer);
  return filled;
}

void V4l2Stream::give_back(const V4l2Buffer& buffer) { queue(buffer.index); }

// By errno.
Error V4l2Stream::refused() const {
  if (errno == EBUSY) return camera_in_use(path_);
  return {ErrorKind::kDeviceLost, fmt::format("camera {} cannot be set up: {}", path_,
                                              std::generic_category().message(errno))};
}

Error V4l2Stream::lost() const {
  return {ErrorKind::kDeviceLost, fmt::format("{} was disconnected or failed", path_)};
}

}  // namespace lookout
