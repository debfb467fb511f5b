// A V4L2 camera for machines without one, for LD_PRELOAD: what a process does with one path goes to
// a camera in this library, all else to the system.
//
// LOOKOUT_FAKE_CAMERA: the path. Something has to be there, a link to /dev/null for instance, else
// the camera is absent. It is to be opened with O_NONBLOCK, and offers kModes, at half the rate
// until it is asked for one.
//
// LOOKOUT_FAKE_FAULT: a file with words, which may change at any time; absent: no fault.
//   lost       every call fails with ENODEV
//   busy       another program takes it in the moment when it is opened
//   crowded    the USB bus has no room for its frames: it cannot be started
//   pipeline   it is a node that the media controller sets up
//   unlinked   nothing in its pipeline gives what it takes: it cannot be started
//   stalled    no frames come
//   eio        to take a frame fails with EIO
//   resized    another size is granted than was asked for
//   foreign    H.264 is granted whatever was asked for
//   fixedrate  its rate can be asked for but not set
//   padded     lines have some bytes more than their pixels
//   fullrange  luma and chroma are said to be 0..255
//   corrupt    some bytes of every frame are wrong
//   short      every frame ends too early
//   empty      every frame has no bytes
//   error      every frame is an earlier one, with the driver's flag for an error
//   othersize  every JPEG is of another size than was granted
//   gaps       by the driver's count two frames are lost before each
//   unstamped  frames have no time stamps
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "platform/sources/test_pattern.h"

#define FAKE_CAMERA_API __attribute__((visibility("default")))

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
constexpr std::uint32_t kResizedWidth = 352;
constexpr std::uint32_t kResizedHeight = 288;
constexpr std::uint32_t kResizedFps = 30;
constexpr std::uint32_t kMaxBuffers = 32;  // the kernel's
constexpr std::uint32_t kPage = 65536;     // no machine has larger ones
constexpr int kWrongBytes = 16;            // of a corrupt frame
constexpr std::uint32_t kPadding = 32;     // bytes of a padded line
constexpr std::uint32_t kGap = 2;          // frames
constexpr long kSecond = 1'000'000'000;    // nanoseconds
// How long ago a frame was captured when it is taken, so that its stamp can be told from the time
// at which it is.
constexpr long kAge = 50'000'000;  // nanoseconds

std::uint32_t most_fps_of(const v4l2_pix_format& format) {
  for (const Mode& mode : kModes) {
    if (mode.fourcc == format.pixelformat && mode.width == format.width) return mode.fps;
  }
  return kResizedFps;
}

using Bytes = std::vector<std::uint8_t>;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int next_open(const char* path, int flags, mode_t mode) {
  static const auto function = next<int (*)(const char*, int, ...)>("open");
  return function(path, flags, mode);
}

int next_close(int fd) {
  static const auto function = next<int (*)(int)>("close");
  return function(fd);
}

int next_ioctl(int fd, unsigned long request, void* argument) {
  static const auto function = next<int (*)(int, unsigned long, ...)>("ioctl");
  return function(fd, request, argument);
}

void* next_mmap(void* address, std::size_t length, int protection, int flags, int fd,
                off_t offset) {
  static const auto function = next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
  return function(address, length, protection, flags, fd, offset);
}

int next_poll(pollfd* fds, nfds_t count, int timeout) {
  static const auto function = next<int (*)(pollfd*, nfds_t, int)>("poll");
  return function(fds, count, timeout);
}

template <typename T, std::size_t N>
void set_text(T (&field)[N], const char* text) {  // NOLINT(modernize-avoid-c-arrays): the kernel's
  std::strncpy(reinterpret_cast<char*>(field), text, N - 1);
}

// ---- pictures

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

// BT.601, limited range. OpenCV converts the other way only.
Bytes yuyv_of(const cv::Mat& bgr, std::size_t stride) {
  Bytes yuyv;
  yuyv.reserve(stride * static_cast<std::size_t>(bgr.rows));
  for (int y = 0; y < bgr.rows; ++y) {
    for (int x = 0; x < bgr.cols; ++x) {
      const auto& pixel = bgr.at<cv::Vec3b>(y, x);
      const double blue = pixel[0];
      const double green = pixel[1];
      const double red = pixel[2];
      yuyv.push_back(to_byte(16 + 0.257 * red + 0.504 * green + 0.098 * blue));
      yuyv.push_back(x % 2 == 0 ? to_byte(128 - 0.148 * red - 0.291 * green + 0.439 * blue)
                                : to_byte(128 + 0.439 * red - 0.368 * green - 0.071 * blue));
    }
    yuyv.resize(stride * static_cast<std::size_t>(y + 1));
  }
  return yuyv;
}

Bytes draw(const v4l2_pix_format& format) {
  cv::Mat bgr(static_cast<int>(format.height), static_cast<int>(format.width), CV_8UC3);
  draw_pattern(Pattern::kColorBars, bgr);
  if (format.pixelformat == V4L2_PIX_FMT_YUYV) return yuyv_of(bgr, format.bytesperline);
  Bytes jpeg;
  cv::imencode(".jpg", bgr, jpeg);
  return jpeg;
}

// ---- the camera

class Camera {
 public:
  static Camera& instance() {
    static auto* const camera = new Camera;  // never deleted: at its end the process closes more
    return *camera;
  }

  bool is_at(const char* path) const { return !path_.empty() && path_ == path; }

  int open(int flags);  // -1 with errno set
  void close(int fd);
  bool has(int fd);
  int ioctl(int fd, unsigned long request, void* argument);
  int memory();  // a descriptor of the buffers, where QUERYBUF says

  // What poll() is to tell at once; 0: it is to wait for the descriptor itself.
  short events();

 private:
  using Lock = std::lock_guard<std::mutex>;

  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }

  bool fault(const char* word) const;

  // These return 0, or what errno is to be.
  int call(int fd, unsigned long request, void* argument);
  int query(v4l2_capability& capability) const;
  static int enumerate(v4l2_fmtdesc& description);
  static int enumerate(v4l2_frmsizeenum& size);
  static int enumerate(v4l2_frmivalenum& interval);
  int set_format(v4l2_format& format);
  int get_rate(v4l2_streamparm& parameters) const;
  int set_rate(v4l2_streamparm& parameters);
  int request_buffers(int fd, v4l2_requestbuffers& request);
  int query_buffer(v4l2_buffer& buffer) const;
  int queue(const v4l2_buffer& buffer);
  int dequeue(v4l2_buffer& buffer);
  int stream(bool on);

  v4l2_pix_format grant(const v4l2_pix_format& asked) const;
  void take_format(const v4l2_pix_format& format);
  void free_buffers();
  void pace(bool on);
  void fill(v4l2_buffer& buffer);

  const std::string path_ = variable("LOOKOUT_FAKE_CAMERA");
  const std::string fault_file_ = variable("LOOKOUT_FAKE_FAULT");

  std::mutex mutex_;  // for all that follows
  std::set<int> fds_;
  v4l2_pix_format format_{};
  std::uint32_t fps_ = 0;
  Bytes picture_;    // in format_
  Bytes other_;      // in another size
  int owner_ = -1;   // the one of fds_ that has the buffers; a timer, which ticks for each frame
  int memory_ = -1;  // of the buffers
  std::uint8_t* mapped_ = nullptr;
  std::size_t mapped_size_ = 0;
  std::vector<v4l2_buffer> buffers_;
  std::deque<std::uint32_t> queued_;
  bool streaming_ = false;
  bool ticking_ = false;
  std::uint32_t sequence_ = 0;
  std::minstd_rand random_;  // the default seed: the same damage every time
};

bool Camera::fault(const char* word) const {
  std::ifstream file(fault_file_);
  std::string found;
  while (file >> found) {
    if (found == word) return true;
  }
  return false;
}

int Camera::open(int flags) {
  const Lock lock(mutex_);
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

void Camera::close(int fd) {
  const Lock lock(mutex_);
  if (fd == owner_) free_buffers();
  fds_.erase(fd);
}

bool Camera::has(int fd) {
  const Lock lock(mutex_);
  return fds_.count(fd) != 0;
}

int Camera::memory() {
  const Lock lock(mutex_);
  return memory_;
}

short Camera::events() {
  const Lock lock(mutex_);
  if (fault("lost")) return POLLERR | POLLHUP;
  if (!streaming_) return POLLERR;
  pace(!fault("stalled"));
  return 0;
}

int Camera::ioctl(int fd, unsigned long request, void* argument) {
  const Lock lock(mutex_);
  const int error = fault("lost") ? ENODEV : call(fd, request, argument);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int Camera::call(int fd, unsigned long request, void* argument) {
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
      break;
  }
  // What is for the owner of the buffers.
  const bool owner = fd == owner_;
  switch (request) {
    case VIDIOC_QUERYBUF:
      return owner ? query_buffer(*static_cast<v4l2_buffer*>(argument)) : EINVAL;
    case VIDIOC_QBUF:
      return owner ? queue(*static_cast<v4l2_buffer*>(argument)) : EINVAL;
    case VIDIOC_DQBUF:
      return owner ? dequeue(*static_cast<v4l2_buffer*>(argument)) : EINVAL;
    case VIDIOC_STREAMON:
    case VIDIOC_STREAMOFF:
      return owner ? stream(request == VIDIOC_STREAMON) : EINVAL;
    default:
      return ENOTTY;
  }
}

int Camera::query(v4l2_capability& capability) const {
  capability = {};
  set_text(capability.driver, "fake");
  set_text(capability.card, "Fake camera");
  set_text(capability.bus_info, "fake:1");
  capability.device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  if (fault("pipeline")) capability.device_caps |= V4L2_CAP_IO_MC;
  capability.capabilities = capability.device_caps | V4L2_CAP_DEVICE_CAPS;
  return 0;
}

int Camera::enumerate(v4l2_fmtdesc& description) {
  if (description.index >= kFormats.size()) return EINVAL;
  description.pixelformat = kFormats.at(description.index);
  const bool raw = description.pixelformat == V4L2_PIX_FMT_YUYV;
  description.flags = raw ? 0 : V4L2_FMT_FLAG_COMPRESSED;
  set_text(description.description, raw ? "YUYV 4:2:2" : "Motion-JPEG");
  return 0;
}

int Camera::enumerate(v4l2_frmsizeenum& size) {
  std::uint32_t index = size.index;
  for (const Mode& mode : kModes) {
    if (mode.fourcc != size.pixel_format || index-- != 0) continue;
    size.type = V4L2_FRMSIZE_TYPE_DISCRETE;
    size.discrete = {mode.width, mode.height};
    return 0;
  }
  return EINVAL;
}

int Camera::enumerate(v4l2_frmivalenum& interval) {
  if (interval.index != 0) return EINVAL;
  for (const Mode& mode : kModes) {
    if (mode.fourcc != interval.pixel_format || mode.width != interval.width ||
        mode.height != interval.height) {
      continue;
    }
    interval.type = V4L2_FRMIVAL_TYPE_DISCRETE;
    interval.discrete = {1, mode.fps};
    return 0;
  }
  return EINVAL;
}

// The mode nearest in width; YUYV for a format that it does not have.
v4l2_pix_format Camera::grant(const v4l2_pix_format& asked) const {
  v4l2_pix_format granted{};
  const bool jpeg = asked.pixelformat == V4L2_PIX_FMT_MJPEG;
  granted.pixelformat = jpeg ? V4L2_PIX_FMT_MJPEG : V4L2_PIX_FMT_YUYV;
  granted.width = kResizedWidth;
  granted.height = kResizedHeight;
  if (!fault("resized")) {
    std::uint32_t least = UINT32_MAX;
    for (const Mode& mode : kModes) {
      const std::uint32_t away =
          std::max(mode.width, asked.width) - std::min(mode.width, asked.width);
      if (mode.fourcc != granted.pixelformat || away >= least) continue;
      least = away;
      granted.width = mode.width;
      granted.height = mode.height;
    }
  }
  granted.field = V4L2_FIELD_NONE;
  const std::uint32_t line = granted.width * 2 + (fault("padded") ? kPadding : 0);
  granted.bytesperline = jpeg ? 0 : line;
  granted.sizeimage = line * granted.height;
  granted.colorspace = jpeg ? V4L2_COLORSPACE_JPEG : V4L2_COLORSPACE_SRGB;
  if (fault("fullrange")) granted.quantization = V4L2_QUANTIZATION_FULL_RANGE;
  if (fault("foreign")) granted.pixelformat = V4L2_PIX_FMT_H264;
  return granted;
}

// As most drivers do, with a rate of its own.
void Camera::take_format(const v4l2_pix_format& format) {
  format_ = format;
  fps_ = most_fps_of(format) / 2;
}

int Camera::set_format(v4l2_format& format) {
  if (format.type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return EINVAL;
  if (owner_ >= 0 || fault("busy")) return EBUSY;
  format.fmt.pix = grant(format.fmt.pix);
  take_format(format.fmt.pix);
  return 0;
}

int Camera::get_rate(v4l2_streamparm& parameters) const {
  if (parameters.type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return EINVAL;
  parameters.parm.capture = {};
  parameters.parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
  parameters.parm.capture.timeperframe = {1, fps_};
  return 0;
}

int Camera::set_rate(v4l2_streamparm& parameters) {
  if (parameters.type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return EINVAL;
  if (fault("fixedrate")) return ENOTTY;
  if (owner_ >= 0) return EBUSY;
  const v4l2_fract& period = parameters.parm.capture.timeperframe;
  fps_ = most_fps_of(format_);
  if (period.numerator != 0) fps_ = std::clamp(period.denominator / period.numerator, 1U, fps_);
  return get_rate(parameters);
}

int Camera::request_buffers(int fd, v4l2_requestbuffers& request) {
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
  picture_ = draw(format_);
  v4l2_pix_format other = format_;
  other.width = kResizedWidth;
  other.height = kResizedHeight;
  if (format_.pixelformat == V4L2_PIX_FMT_MJPEG) other_ = draw(other);
  owner_ = fd;
  return 0;
}

void Camera::free_buffers() {
  stream(false);
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
  if (memory_ >= 0) next_close(memory_);
  mapped_ = nullptr;
  memory_ = -1;
  owner_ = -1;
  buffers_.clear();
}

int Camera::query_buffer(v4l2_buffer& buffer) const {
  if (buffer.index >= buffers_.size()) return EINVAL;
  buffer = buffers_[buffer.index];
  return 0;
}

int Camera::queue(const v4l2_buffer& buffer) {
  if (buffer.index >= buffers_.size()) return EINVAL;
  if (std::find(queued_.begin(), queued_.end(), buffer.index) != queued_.end()) return EINVAL;
  queued_.push_back(buffer.index);
  return 0;
}

int Camera::dequeue(v4l2_buffer& buffer) {
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

void Camera::fill(v4l2_buffer& buffer) {
  const bool error = fault("error");
  const Bytes& picture = fault("othersize") && !other_.empty() ? other_ : picture_;
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
  const long captured = now.tv_sec * kSecond + now.tv_nsec - kAge;
  buffer.timestamp = {captured / kSecond, captured % kSecond / 1000};
  buffer.flags |= V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
}

int Camera::stream(bool on) {
  if (on && fault("crowded")) return ENOSPC;
  if (on && fault("unlinked")) return EPIPE;
  streaming_ = on;
  if (!on) queued_.clear();
  pace(on && !fault("stalled"));
  return 0;
}

void Camera::pace(bool on) {
  if (owner_ < 0 || on == ticking_) return;
  ticking_ = on;
  itimerspec timer{};
  if (on) timer.it_value.tv_nsec = timer.it_interval.tv_nsec = kSecond / fps_;
  ::timerfd_settime(owner_, 0, &timer, nullptr);
}

}  // namespace
}  // namespace lookout

// ---- what stands before the system's

using lookout::Camera;

extern "C" {

FAKE_CAMERA_API int open(const char* file, int oflag, ...) {
  if (Camera::instance().is_at(file)) return Camera::instance().open(oflag);
  va_list arguments;
  va_start(arguments, oflag);
  const mode_t mode = (oflag & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return lookout::next_open(file, oflag, mode);
}

FAKE_CAMERA_API int close(int fd) {
  Camera::instance().close(fd);
  return lookout::next_close(fd);
}

FAKE_CAMERA_API int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (Camera::instance().has(fd)) return Camera::instance().ioctl(fd, request, argument);
  return lookout::next_ioctl(fd, request, argument);
}

FAKE_CAMERA_API void* mmap(void* addr, std::size_t len, int prot, int flags, int fd,
                           off_t offset) noexcept {
  if (fd >= 0 && Camera::instance().has(fd)) fd = Camera::instance().memory();
  return lookout::next_mmap(addr, len, prot, flags, fd, offset);
}

FAKE_CAMERA_API int poll(pollfd* fds, nfds_t nfds, int timeout) {
  if (nfds == 1 && Camera::instance().has(fds->fd)) {
    fds->revents = Camera::instance().events();
    if (fds->revents != 0) return 1;
  }
  return lookout::next_poll(fds, nfds, timeout);
}

}  // extern "C"
