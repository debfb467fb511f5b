#include "platform/v4l2_source.h"

#include <fmt/format.h>
#include <linux/videodev2.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "pipeline/error.h"
#include "platform/jpeg.h"
#include "platform/v4l2_device.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr int kBuffers = 4;
constexpr std::uint32_t kMjpeg = V4L2_PIX_FMT_MJPEG;
constexpr auto kStampTolerance = std::chrono::seconds(10);

// `stamp`, in the driver's time, unless that is another clock's.
Clock::time_point time_of_stamp(double stamp_ms) {
  const auto now = Clock::now();
  const Clock::time_point time(std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(stamp_ms)));
  const bool plausible = time > now - kStampTolerance && time < now + kStampTolerance;
  return plausible ? time : now;
}

Error no_readable_format(const std::string& path) {
  return {ErrorKind::kNoInput,
          fmt::format("camera {} has no picture format that can be read", path)};
}

// Throws Error unless it is a camera that nobody else uses.
std::vector<CameraFormat> camera_formats(const V4l2Device& device, const std::string& path) {
  std::vector<CameraFormat> formats = device.formats();
  const NodeKind kind = kind_of(device.info(), formats);
  if (kind != NodeKind::kCamera) throw not_a_camera(path, kind);
  if (device.in_use()) throw camera_in_use(path);
  return formats;
}

}  // namespace

std::string probe_camera(const std::string& path) {
  const V4l2Device device(path);
  camera_formats(device, path);
  return device.info().card;
}

ModeWish wish_of(const SourceOptions& options) {
  ModeWish wish;
  wish.needed_width = options.needed_width;
  wish.needed_height = options.needed_height;
  wish.width = options.width;
  wish.height = options.height;
  wish.framerate = options.framerate.value_or(wish.framerate);
  return wish;
}

V4l2Source::V4l2Source(const std::string& path, const SourceOptions& options)
    : path_(path), captures_(1) {
  const ModeWish wish = wish_of(options);
  std::string card;
  std::optional<CameraMode> mode;
  {
    const V4l2Device device(path);  // closed before OpenCV opens it
    const ModeChoice choice = choose_mode(camera_formats(device, path), wish);
    for (const std::string& line : lines_of(choice)) spdlog::debug("{}: {}", path, line);
    card = device.info().card;
    mode = choice.mode;
  }
  if (!mode) throw no_readable_format(path);
  configure(*mode);
  const Granted result = granted();
  size_ = cv::Size(result.width, result.height);
  info_.name = fs::path(path).filename().string();
  info_.description = fmt::format("{} ({}), {}x{} {}, {}", path, card, result.width, result.height,
                                  text_of_fourcc(result.fourcc), text_of_rate(result.fps));
  info_.live = true;
  info_.fps = result.fps;
  info_.asked_fps = wish.framerate;
  info_.shortfall = shortfall(wish, result);
}

// Less than was asked for, in both figures; empty when it is not.
std::string V4l2Source::shortfall(const ModeWish& wish, const Granted& result) {
  const int width = wish.width.value_or(result.width);
  const int height = wish.height.value_or(result.height);
  const bool slow = result.fps > 0 && is_slower(result.fps, wish.framerate);
  if (width != result.width || height != result.height || slow) {
    return fmt::format("asked for {}x{} at {}, the camera gives {}x{} at {}", width, height,
                       text_of_rate(wish.framerate), result.width, result.height,
                       text_of_rate(result.fps));
  }
  if (result.width < wish.needed_width || result.height < wish.needed_height) {
    return fmt::format("the model looks at {}x{} pixels, the camera gives {}x{} at most",
                       wish.needed_width, wish.needed_height, result.width, result.height);
  }
  return {};
}

void V4l2Source::configure(const CameraMode& mode) {
  try {
    if (!capture().open(path_, cv::CAP_V4L2)) {
      probe_camera(path_);  // says so when another program was faster
      throw no_readable_format(path_);
    }
    capture().set(cv::CAP_PROP_BUFFERSIZE, kBuffers);
    capture().set(cv::CAP_PROP_FOURCC, mode.fourcc);
    capture().set(cv::CAP_PROP_FRAME_WIDTH, mode.width);
    capture().set(cv::CAP_PROP_FRAME_HEIGHT, mode.height);
    // Last, since OpenCV would send it again, after a driver rounded it, in other units. It takes
    // whole numbers.
    capture().set(cv::CAP_PROP_FPS, std::max(1.0, std::round(mode.framerate)));
    // JPEGs are decoded here: OpenCV would repeat the frame before instead of a damaged one.
    mjpeg_ = granted().fourcc == kMjpeg;
    if (mjpeg_) capture().set(cv::CAP_PROP_CONVERT_RGB, 0);
  } catch (const cv::Exception& e) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} cannot be set up: {}", path_, e.err));
  }
}

V4l2Source::Granted V4l2Source::granted() {
  Granted result;
  result.width = static_cast<int>(capture().get(cv::CAP_PROP_FRAME_WIDTH));
  result.height = static_cast<int>(capture().get(cv::CAP_PROP_FRAME_HEIGHT));
  result.fourcc =
      static_cast<std::uint32_t>(static_cast<std::int64_t>(capture().get(cv::CAP_PROP_FOURCC)));
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
    return capture().retrieve(jpeg_) && decode_jpeg(jpeg_.data, jpeg_.total(), size_, bgr);
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
