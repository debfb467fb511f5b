#include "tests/support/fake_camera/fake_camera.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace lookout {
namespace {

struct Mode {
  std::uint32_t fourcc = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t fps = 0;
};

// Like a camera at a slow port: the larger size comes at full rate as MJPG only.
constexpr std::array<Mode, 4> kModes{{{V4L2_PIX_FMT_YUYV, 320, 240, 30},
                                      {V4L2_PIX_FMT_YUYV, 640, 480, 10},
                                      {V4L2_PIX_FMT_MJPEG, 320, 240, 30},
                                      {V4L2_PIX_FMT_MJPEG, 640, 480, 30}}};
constexpr std::array<std::uint32_t, 2> kFormats{V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_MJPEG};
constexpr std::uint32_t kResizedFps = 30;
constexpr std::uint32_t kPadding = 32;  // bytes of a padded line

std::uint32_t max_fps_of(const v4l2_pix_format& format) {
  for (const Mode& mode : kModes) {
    if (mode.fourcc == format.pixelformat && mode.width == format.width) return mode.fps;
  }
  return kResizedFps;
}

template <typename T, std::size_t N>
void set_text(T (&field)[N], const char* text) {  // NOLINT(modernize-avoid-c-arrays): the kernel's
  std::strncpy(reinterpret_cast<char*>(field), text, N - 1);
}

}  // namespace

bool FakeCamera::fault(const char* word) const {
  std::ifstream file(fault_file_);
  std::string found;
  while (file >> found) {
    if (found == word) return true;
  }
  return false;
}

int FakeCamera::open(int flags) {
  const MutexLock lock(mutex_);
  if (::access(path_.c_str(), F_OK) != 0) return -1;
  if (fault("lost")) {
    errno = ENODEV;
    return -1;
  }
  if (format_.width == 0) take_format(grant(format_));
  const int fd = ::timerfd_create(CLOCK_MONOTONIC,
                                  TFD_NONBLOCK | ((flags & O_CLOEXEC) != 0 ? TFD_CLOEXEC : 0));
  if (fd >= 0) fds_.insert(fd);
  return fd;
}

void FakeCamera::close(int fd) {
  const MutexLock lock(mutex_);
  if (fd == owner_) free_buffers();
  fds_.erase(fd);
}

bool FakeCamera::has(int fd) {
  const MutexLock lock(mutex_);
  return fds_.count(fd) != 0;
}

int FakeCamera::memory() {
  const MutexLock lock(mutex_);
  return memory_;
}

short FakeCamera::events() {
  const MutexLock lock(mutex_);
  if (fault("lost")) return POLLERR | POLLHUP;
  if (!streaming_) return POLLERR;
  pace(!fault("stalled"));
  return 0;
}

[[noreturn]] void FakeCamera::hang() {
  constexpr std::string_view kText = "the camera hangs\n";
  static_cast<void>(::write(STDERR_FILENO, kText.data(), kText.size()));
  while (true) ::pause();
}

int FakeCamera::ioctl(int fd, unsigned long request, void* argument) {
  if (fault("hangs")) hang();
  const MutexLock lock(mutex_);
  const int error = fault("lost") ? ENODEV : call(fd, request, argument);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int FakeCamera::call(int fd, unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYCAP:
      return query(*static_cast<v4l2_capability*>(argument));
    case VIDIOC_ENUM_FMT:
      return enumerate(*static_cast<v4l2_fmtdesc*>(argument));
    case VIDIOC_ENUM_FRAMESIZES:
      return enumerate(*static_cast<v4l2_frmsizeenum*>(argument));
    case VIDIOC_ENUM_FRAMEINTERVALS:
      return enumerate(*static_cast<v4l2_frmivalenum*>(argument));
    case VIDIOC_S_FMT:
      return set_format(*static_cast<v4l2_format*>(argument));
    case VIDIOC_S_PARM:
      return set_rate(*static_cast<v4l2_streamparm*>(argument));
    case VIDIOC_G_PARM:
      return get_rate(*static_cast<v4l2_streamparm*>(argument));
    case VIDIOC_REQBUFS:
      return request_buffers(fd, *static_cast<v4l2_requestbuffers*>(argument));
    default:
      return fd == owner_ ? call_with_buffers(request, argument) : EINVAL;
  }
}

// For the handle that has the buffers.
int FakeCamera::call_with_buffers(unsigned long request, void* argument) {
  switch (request) {
    case VIDIOC_QUERYBUF:
      return query_buffer(*static_cast<v4l2_buffer*>(argument));
    case VIDIOC_QBUF:
      return queue(*static_cast<v4l2_buffer*>(argument));
    case VIDIOC_DQBUF:
      return dequeue(*static_cast<v4l2_buffer*>(argument));
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
      return stream(request == VIDIOC_STREAMON);
    default:
      return ENOTTY;
  }
}

int FakeCamera::query(v4l2_capability& capability) const {
  capability = {};
  set_text(capability.driver, "fake");
  set_text(capability.card, "Fake camera");
  set_text(capability.bus_info, "fake:1");
  capability.device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  if (fault("pipeline")) capability.device_caps |= V4L2_CAP_IO_MC;
  capability.capabilities = capability.device_caps | V4L2_CAP_DEVICE_CAPS;
  return 0;
}

int FakeCamera::enumerate(v4l2_fmtdesc& description) const {
  if (fault("encoded") && description.index == 0) {
    description.pixelformat = V4L2_PIX_FMT_H264;
    description.flags = V4L2_FMT_FLAG_COMPRESSED;
    set_text(description.description, "H.264");
    return 0;
  }
  if (fault("thermal") && description.index < 2) {
    description.pixelformat = description.index == 0 ? V4L2_PIX_FMT_Y16 : V4L2_PIX_FMT_Z16;
    return 0;
  }
  const bool has_others = fault("encoded") || fault("thermal");
  if (has_others || description.index >= kFormats.size()) return EINVAL;
  description.pixelformat = kFormats.at(description.index);
  const bool raw = description.pixelformat == V4L2_PIX_FMT_YUYV;
  description.flags = raw ? 0 : V4L2_FMT_FLAG_COMPRESSED;
  set_text(description.description, raw ? "YUYV 4:2:2" : "Motion-JPEG");
  return 0;
}

int FakeCamera::enumerate(v4l2_frmsizeenum& size) const {
  if (fault("unlisted")) return ENOTTY;
  std::uint32_t index = size.index;
  for (const Mode& mode : kModes) {
    if (mode.fourcc != size.pixel_format || index-- != 0) continue;
    size.type = V4L2_FRMSIZE_TYPE_DISCRETE;
    size.discrete = {mode.width, mode.height};
    return 0;
  }
  return EINVAL;
}

int FakeCamera::enumerate(v4l2_frmivalenum& interval) const {
  if (interval.index != 0) return EINVAL;
  for (const Mode& mode : kModes) {
    if (mode.fourcc != interval.pixel_format || mode.width != interval.width ||
        mode.height != interval.height) {
      continue;
    }
    interval.type = V4L2_FRMIVAL_TYPE_DISCRETE;
    interval.discrete = {1, mode.fps};
    if (!fault("anyrate")) return 0;
    interval.type = V4L2_FRMIVAL_TYPE_CONTINUOUS;
    interval.stepwise = {{1, mode.fps}, {1, 1}, {1, 1}};
    return 0;
  }
  return EINVAL;
}

// The mode nearest in width; YUYV for a format that it does not have.
v4l2_pix_format FakeCamera::grant(const v4l2_pix_format& asked) const {
  v4l2_pix_format granted{};
  const bool jpeg = asked.pixelformat == V4L2_PIX_FMT_MJPEG;
  granted.pixelformat = jpeg ? V4L2_PIX_FMT_MJPEG : V4L2_PIX_FMT_YUYV;
  granted.width = kResizedWidth;
  granted.height = kResizedHeight;
  if (!fault("resized")) {
    std::uint32_t nearest = UINT32_MAX;
    for (const Mode& mode : kModes) {
      const std::uint32_t away =
          std::max(mode.width, asked.width) - std::min(mode.width, asked.width);
      if (mode.fourcc != granted.pixelformat || away >= nearest) continue;
      nearest = away;
      granted.width = mode.width;
      granted.height = mode.height;
    }
  }
  granted.field = V4L2_FIELD_NONE;
  const std::uint32_t line = granted.width * 2 + (fault("padded") ? kPadding : 0);
  granted.bytesperline = jpeg ? 0 : line;
  granted.sizeimage = line * granted.height;
  granted.colorspace = jpeg ? V4L2_COLORSPACE_JPEG : V4L2_COLORSPACE_SRGB;
  if (fault("bt709")) granted.colorspace = V4L2_COLORSPACE_REC709;
  if (fault("fullrange")) granted.quantization = V4L2_QUANTIZATION_FULL_RANGE;
  if (fault("foreign")) granted.pixelformat = V4L2_PIX_FMT_H264;
  return granted;
}

// As most drivers do, with a rate of its own.
void FakeCamera::take_format(const v4l2_pix_format& format) {
  format_ = format;
  fps_ = max_fps_of(format) / 2;
}

int FakeCamera::set_format(v4l2_format& format) {
  if (format.type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return EINVAL;
  if (owner_ >= 0 || fault("busy")) return EBUSY;
  format.fmt.pix = grant(format.fmt.pix);
  take_format(format.fmt.pix);
  return 0;
}

int FakeCamera::get_rate(v4l2_streamparm& parameters) const {
  if (parameters.type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return EINVAL;
  parameters.parm.capture = {};
  parameters.parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
  parameters.parm.capture.timeperframe = {1, fps_};
  return 0;
}

int FakeCamera::set_rate(v4l2_streamparm& parameters) {
  if (parameters.type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return EINVAL;
  if (fault("fixedrate")) return ENOTTY;
  if (owner_ >= 0) return EBUSY;
  const v4l2_fract& period = parameters.parm.capture.timeperframe;
  fps_ = max_fps_of(format_);
  if (period.numerator != 0) fps_ = std::clamp(period.denominator / period.numerator, 1U, fps_);
  return get_rate(parameters);
}

}  // namespace lookout
