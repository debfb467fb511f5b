#include "platform/cameras/v4l2_source.h"

#include <fmt/format.h>
#include <linux/videodev2.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "pipeline/error.h"
#include "platform/cameras/jpeg.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kLongestGap = 10'000;  // frames; a longer one is a count that jumped

// Nothing for JPEGs and what cannot be read.
std::optional<RawFormat> raw_format_of(std::uint32_t fourcc) {
  switch (fourcc) {
    case V4L2_PIX_FMT_BGR24:
      return RawFormat::kBgr;
    case V4L2_PIX_FMT_RGB24:
      return RawFormat::kRgb;
    case V4L2_PIX_FMT_GREY:
      return RawFormat::kGray;
    case V4L2_PIX_FMT_YUYV:
      return RawFormat::kYuyv;
    case V4L2_PIX_FMT_UYVY:
      return RawFormat::kUyvy;
    case V4L2_PIX_FMT_NV12:
      return RawFormat::kNv12;
    case V4L2_PIX_FMT_NV21:
      return RawFormat::kNv21;
    case V4L2_PIX_FMT_YUV420:
      return RawFormat::kI420;
    case V4L2_PIX_FMT_YVU420:
      return RawFormat::kYv12;
    default:
      return std::nullopt;
  }
}

// How the pictures of a format lie in memory; nothing for JPEGs.
std::optional<RawPicture> raw_picture_of(const V4l2Format& granted) {
  const auto format = raw_format_of(granted.fourcc);
  if (!format) return std::nullopt;
  RawPicture picture;
  picture.format = *format;
  picture.width = granted.width;
  picture.height = granted.height;
  if (is_subsampled(*format)) {  // drivers that grant odd sizes have half a pixel at the edge
    picture.width -= picture.width % 2;
    picture.height -= picture.height % 2;
  }
  // Some drivers leave it 0.
  picture.stride = std::max(granted.stride, least_stride(*format, granted.width));
  picture.full_range = granted.full_range;
  return picture;
}

UnusableDevice no_readable_format(const std::string& path) {
  return UnusableDevice(fmt::format("camera {} has no picture format that can be read", path));
}

// Throws Error unless it is a camera, or may be one, that nobody else uses.
std::vector<CameraFormat> camera_formats(const V4l2Device& device, const std::string& path) {
  std::vector<CameraFormat> formats = device.formats();
  const NodeKind kind = kind_of(device.info(), formats);
  if (kind != NodeKind::kCamera && kind != NodeKind::kPipeline) throw not_a_camera(path, kind);
  if (device.in_use()) throw camera_in_use(path);
  if (formats.empty()) {  // as of a camera that went away in this moment
    throw Error(ErrorKind::kNoInput, fmt::format("camera {} offers no picture format", path));
  }
  return formats;
}

// Says at log level debug what was not taken, and why.
CameraMode choose(const V4l2Device& device, const std::string& path, const ModeWish& wish) {
  const ModeChoice choice = choose_mode(camera_formats(device, path), wish);
  for (const std::string& line : lines_of(choice)) spdlog::debug("{}: {}", path, line);
  if (!choice.mode) throw no_readable_format(path);
  return *choice.mode;
}

}  // namespace

std::string probe_camera(const std::string& path) {
  const V4l2Device device(path);
  const NodeKind kind = kind_of(device.info(), camera_formats(device, path));
  if (kind != NodeKind::kCamera) throw not_a_camera(path, kind);
  return device.info().card;
}

V4l2Source::V4l2Source(const std::string& path, const SourceOptions& options)
    : path_(path),
      device_(path),
      stream_(device_, path, choose(device_, path, wish_of(options))),
      raw_(raw_picture_of(stream_.format())) {
  const ModeWish wish = wish_of(options);
  const V4l2Format& granted = stream_.format();
  if (!can_be_read(granted.fourcc)) throw no_readable_format(path);
  info_.name = fs::path(path).filename().string();
  info_.description =
      fmt::format("{} ({}), {}x{} {}, {}", path, device_.info().card, granted.width, granted.height,
                  text_of_fourcc(granted.fourcc), text_of_rate(granted.fps));
  info_.live = true;
  info_.fps = granted.fps;
  info_.asked_fps = wish.framerate;
  info_.shortfall = shortfall_of(wish, granted.width, granted.height, granted.fps);
}

V4l2Source::~V4l2Source() {
  if (lost_ > 0) spdlog::debug("{}: {} frames were lost before they came here", path_, lost_);
}

ReadStatus V4l2Source::read(Frame& frame, std::chrono::milliseconds timeout) {
  const auto buffer = stream_.take(timeout);
  if (!buffer) return ReadStatus::kTimeout;
  count_lost(buffer->sequence);
  const auto start = Clock::now();
  const bool good = !buffer->damaged && convert(*buffer, frame.bgr);
  stream_.give_back(*buffer);
  if (!good) return ReadStatus::kSkipped;
  frame.captured = buffer->captured;
  frame.capture_duration = Clock::now() - start;
  frame.origin.clear();
  return ReadStatus::kFrame;
}

void V4l2Source::count_lost(std::uint32_t sequence) {
  const std::uint32_t gap = sequence_ ? sequence - *sequence_ - 1 : 0;  // the count may wrap
  if (gap <= kLongestGap) lost_ += gap;
  sequence_ = sequence;
}

// False when the frame is damaged.
bool V4l2Source::convert(const V4l2Buffer& buffer, cv::Mat& bgr) {
  const V4l2Format& format = stream_.format();
  if (!raw_) return decode_jpeg(buffer.data, buffer.size, {format.width, format.height}, bgr);
  if (buffer.size < contiguous_size(*raw_)) return false;
  RawPicture picture = *raw_;
  set_planes(buffer.data, picture);
  converter_.convert(picture, bgr);
  return true;
}

}  // namespace lookout
