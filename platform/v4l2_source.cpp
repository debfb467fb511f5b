#include "platform/v4l2_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/videodev2.h>
#include <pwd.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <system_error>

#include "pipeline/error.h"
#include "platform/system_info.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultWidth = 640;
constexpr int kDefaultHeight = 480;
constexpr double kDefaultFps = 30;
constexpr int kBuffers = 4;
constexpr double kSameRate = 0.01;   // 29.97 is 30
constexpr double kMuchSlower = 0.9;  // of the rate that was asked for
constexpr int kMjpeg = V4L2_PIX_FMT_MJPEG;
constexpr auto kStampTolerance = std::chrono::seconds(10);

class Device {
 public:
  explicit Device(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {}
  ~Device() {
    if (is_open()) ::close(fd_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  bool is_open() const { return fd_ >= 0; }

  // False with errno set.
  template <typename Argument>
  bool control(unsigned long request, Argument& argument) const {
    int result = 0;
    do {
      result = ::ioctl(fd_, request, &argument);
    } while (result < 0 && errno == EINTR);
    return result == 0;
  }

 private:
  int fd_;
};

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user == nullptr ? "USER" : user->pw_name;
}

Error absent(const std::string& path) {
  const auto devices = video_devices();
  const std::string there = devices.empty() ? "there is no /dev/video* at all"
                                            : fmt::format("there is {}", fmt::join(devices, ", "));
  return {ErrorKind::kNoInput, fmt::format("no such device, file or folder: {}; {}", path, there)};
}

Error in_use(const std::string& path) {
  return {ErrorKind::kDeviceLost, fmt::format("camera {} is in use by another program", path)};
}

Error not_a_camera(const std::string& path) {
  return {ErrorKind::kNoInput, fmt::format("{} is not a camera", path)};
}

Error cannot_open(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absent(path);
    case EACCES:
    case EPERM:
      return {ErrorKind::kPermission,
              fmt::format("no permission to open {}; for cameras this helps, after a new login: "
                          "sudo usermod -aG video {}",
                          path, user_name())};
    case EBUSY:
      return in_use(path);
    default:
      return {ErrorKind::kNoInput,
              fmt::format("{} cannot be opened: {}", path, std::generic_category().message(error))};
  }
}

std::string text_of_fourcc(int fourcc) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8) {
    const int c = (fourcc >> shift) & 0x7f;
    if (c > ' ') text += static_cast<char>(c);
  }
  return text;
}

std::string text_of_rate(double fps) {
  return fps > 0 ? fmt::format("{:.4g} fps", fps) : "an unknown rate";
}

bool differ(double asked, double given) { return std::abs(given - asked) > kSameRate * asked; }

// `stamp`, in the driver's time, unless that is another clock's.
Clock::time_point time_of_stamp(double stamp_ms) {
  const auto now = Clock::now();
  const Clock::time_point time(std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(stamp_ms)));
  const bool plausible = time > now - kStampTolerance && time < now + kStampTolerance;
  return plausible ? time : now;
}

}  // namespace

std::string probe_camera(const std::string& path) {
  const Device device(path);
  if (!device.is_open()) throw cannot_open(path, errno);
  v4l2_capability capability{};
  if (!device.control(VIDIOC_QUERYCAP, capability)) throw not_a_camera(path);
  const bool has_own = (capability.capabilities & V4L2_CAP_DEVICE_CAPS) != 0;
  const auto capabilities = has_own ? capability.device_caps : capability.capabilities;
  constexpr auto kNeeded = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
  if ((capabilities & kNeeded) != kNeeded) throw not_a_camera(path);
  // To free the buffers that this handle does not have is refused while another handle has some.
  v4l2_requestbuffers none{};
  none.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  none.memory = V4L2_MEMORY_MMAP;
  if (!device.control(VIDIOC_REQBUFS, none) && errno == EBUSY) throw in_use(path);
  const auto* card = reinterpret_cast<const char*>(capability.card);
  return {card, strnlen(card, sizeof capability.card)};
}

V4l2Source::V4l2Source(const std::string& path, const SourceOptions& options)
    : path_(path), captures_(1) {
  const std::string card = probe_camera(path);
  configure(options);
  const Granted result = granted();
  std::error_code error;
  const fs::path device = fs::canonical(path, error);
  info_.name = (error ? fs::path(path) : device).filename().string();
  info_.description = fmt::format("{} ({}), {}x{} {}, {}", path, card, result.width, result.height,
                                  text_of_fourcc(result.fourcc), text_of_rate(result.fps));
  info_.live = true;
  info_.fps = result.fps;
  const int width = options.width.value_or(result.width);
  const int height = options.height.value_or(result.height);
  const double fps = options.framerate.value_or(result.fps);
  if (width != result.width || height != result.height || differ(fps, result.fps)) {
    spdlog::warn("{}: asked for {}x{} at {}, the camera gives {}x{} at {}", path, width, height,
                 text_of_rate(fps), result.width, result.height, text_of_rate(result.fps));
  }
}

void V4l2Source::configure(const SourceOptions& options) {
  try {
    if (!capture().open(path_, cv::CAP_V4L2)) {
      probe_camera(path_);  // says so when another program was faster
      throw Error(ErrorKind::kNoInput,
                  fmt::format("camera {} has no picture format that can be read", path_));
    }
    capture().set(cv::CAP_PROP_BUFFERSIZE, kBuffers);
    capture().set(cv::CAP_PROP_FRAME_WIDTH, options.width.value_or(kDefaultWidth));
    capture().set(cv::CAP_PROP_FRAME_HEIGHT, options.height.value_or(kDefaultHeight));
    capture().set(cv::CAP_PROP_FPS, options.framerate.value_or(kDefaultFps));
    prefer_mjpeg(options);
    // JPEGs are decoded here: OpenCV would repeat the frame before instead of a damaged one.
    mjpeg_ = granted().fourcc == kMjpeg;
    if (mjpeg_) capture().set(cv::CAP_PROP_CONVERT_RGB, 0);
  } catch (const cv::Exception& e) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} cannot be set up: {}", path_, e.err));
  }
}

// USB cameras have too narrow a line for large raw frames and lower the rate; as JPEGs they fit.
void V4l2Source::prefer_mjpeg(const SourceOptions& options) {
  const double asked = options.framerate.value_or(kDefaultFps);
  const Granted raw = granted();
  if (raw.fourcc == kMjpeg || raw.fps <= 0 || raw.fps >= kMuchSlower * asked) return;
  capture().set(cv::CAP_PROP_FOURCC, kMjpeg);
  capture().set(cv::CAP_PROP_FPS, asked);
  const Granted compressed = granted();
  const bool better = compressed.fourcc == kMjpeg && compressed.width == raw.width &&
                      compressed.height == raw.height && compressed.fps > raw.fps;
  if (better) return;
  capture().set(cv::CAP_PROP_FOURCC, raw.fourcc);
  capture().set(cv::CAP_PROP_FPS, asked);
}

V4l2Source::Granted V4l2Source::granted() {
  Granted result;
  result.width = static_cast<int>(capture().get(cv::CAP_PROP_FRAME_WIDTH));
  result.height = static_cast<int>(capture().get(cv::CAP_PROP_FRAME_HEIGHT));
  result.fourcc = static_cast<int>(capture().get(cv::CAP_PROP_FOURCC));
  const double fps = capture().get(cv::CAP_PROP_FPS);
  result.fps = std::isfinite(fps) && fps > 0 ? fps : 0;
  return result;
}

ReadStatus V4l2Source::read(Frame& frame, std::chrono::milliseconds timeout) {
  if (!wait(timeout)) return ReadStatus::kTimeout;
  frame.captured = time_of_stamp(capture().get(cv::CAP_PROP_POS_MSEC));
  const auto start = Clock::now();
  if (!retrieve(frame.bgr)) return skip();
  frame.capture_duration = Clock::now() - start;
  frame.origin.clear();
  return ReadStatus::kFrame;
}

// True when OpenCV has taken a frame from the driver.
bool V4l2Source::wait(std::chrono::milliseconds timeout) {
  const bool starting = !started_;
  started_ = true;
  const std::chrono::nanoseconds wait = std::max(timeout, std::chrono::milliseconds(1));
  try {
    return cv::VideoCapture::waitAny(captures_, ready_, wait.count()) && !ready_.empty();
  } catch (const cv::Exception&) {
    // The first call starts the camera and throws when the first frame is slow to come; a camera
    // that could not be started throws again.
    if (starting) return false;
    throw Error(ErrorKind::kDeviceLost, fmt::format("{} was disconnected or failed", path_));
  }
}

// False when the frame is damaged.
bool V4l2Source::retrieve(cv::Mat& bgr) {
  try {
    if (!mjpeg_) return capture().retrieve(bgr) && bgr.type() == CV_8UC3;
    if (!capture().retrieve(jpeg_)) return false;
    // Into new memory: imdecode() leaves a picture that is given to it as it is when it fails.
    bgr = cv::imdecode(jpeg_, cv::IMREAD_COLOR);
    return !bgr.empty();
  } catch (const cv::Exception&) {
    return false;
  }
}

ReadStatus V4l2Source::skip() {
  if (!damage_reported_) {
    spdlog::warn("camera {}: a damaged frame was skipped; further ones are skipped in silence",
                 path_);
  }
  damage_reported_ = true;
  return ReadStatus::kSkipped;
}

}  // namespace lookout
