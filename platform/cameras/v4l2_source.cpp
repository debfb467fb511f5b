#include "platform/cameras/v4l2_source.h"

#include <fmt/format.h>
#include <linux/videodev2.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/pictures/jpeg_decoder.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMaxGap = 10'000;  // frames; beyond that the driver's count jumped
constexpr std::int64_t kMaxSide = 8192;    // pixels: a larger one is a damaged header

// FFmpeg reads nearly all of what cameras send; what is encoded already is piped as it is.
UnusableDevice no_readable_format(const std::string& path,
                                  const std::vector<std::uint32_t>& formats) {
  std::vector<std::string> names;
  std::string pipe = fmt::format("-i {} -pix_fmt yuv420p -f yuv4mpegpipe", path);
  for (const std::uint32_t fourcc : formats) {
    const std::string name = fourcc_to_text(fourcc);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    const bool is_h264 = fourcc == V4L2_PIX_FMT_H264;
    if (!is_h264 && fourcc != V4L2_PIX_FMT_HEVC) continue;
    pipe =
        fmt::format("-input_format {} -i {} -c copy -f matroska", is_h264 ? "h264" : "hevc", path);
  }
  return UnusableDevice(
      fmt::format("camera {} has only {}, which cannot be read; pipe it: ffmpeg -f v4l2 {} - | "
                  "lookout - --live",
                  path, joined(names, ", "), pipe));
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

// Logs at level debug which modes were rejected, and why.
CameraMode choose(const V4l2Device& device, const std::string& path, const ModeWish& wish) {
  const std::vector<CameraFormat> formats = camera_formats(device, path);
  const ModeChoice choice = choose_mode(formats, wish);
  for (const std::string& line : to_text(choice)) log_debug("{}: {}", path, line);
  if (choice.mode) return *choice.mode;
  std::vector<std::uint32_t> fourccs;
  fourccs.reserve(formats.size());
  for (const CameraFormat& format : formats) fourccs.push_back(format.fourcc);
  throw no_readable_format(path, fourccs);
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
      wish_(wish_of(options)),
      jpegs_wanted_(options.jpegs_wanted),
      device_(path),
      stream_(device_, path, choose(device_, path, wish_)),
      raw_(raw_picture_of(stream_.format())) {
  const V4l2Format& granted = stream_.format();
  if (!can_be_read(granted.fourcc)) throw no_readable_format(path, {granted.fourcc});
  const bool has_range = raw_ && is_subsampled(raw_->format);
  if (has_range && !raw_->encoding.range_declared) range_.emplace(path);
  info_.name = fs::path(path).filename().string();
  info_.description =
      fmt::format("{} ({}), {}x{} {}, {}", path, device_.info().card, granted.width, granted.height,
                  fourcc_to_text(granted.fourcc), rate_to_text(granted.fps));
  info_.live = true;
  info_.fps = granted.fps;
  info_.asked_fps = wish_.framerate;
  info_.shortfall = shortfall_of(wish_, granted.width, granted.height, granted.fps);
}

V4l2Source::~V4l2Source() {
  if (dropped_ > 0) log_debug("{}: the driver dropped {} frames", path_, dropped_);
}

ReadStatus V4l2Source::read(Frame& frame, std::chrono::milliseconds timeout) {
  const auto buffer = stream_.take(timeout);
  if (!buffer) return ReadStatus::kTimeout;
  count_dropped(buffer->sequence);
  const auto start = Clock::now();
  const bool good = !buffer->damaged && convert(*buffer, frame.bgr);
  if (good) keep_jpeg(*buffer, frame);
  stream_.give_back(*buffer);
  if (!good) return ReadStatus::kSkipped;
  frame.captured = buffer->captured;
  frame.capture_duration = Clock::now() - start;
  frame.origin.clear();
  return ReadStatus::kFrame;
}

void V4l2Source::count_dropped(std::uint32_t sequence) {
  const std::uint32_t gap = sequence_ ? sequence - *sequence_ - 1 : 0;  // the count may wrap
  if (gap <= kMaxGap) dropped_ += gap;
  sequence_ = sequence;
}

// False when the frame is damaged.
bool V4l2Source::convert(const V4l2Buffer& buffer, cv::Mat& bgr) {
  if (!raw_) {
    const std::string_view jpeg(reinterpret_cast<const char*>(buffer.data), buffer.size);
    DecodedPicture picture;
    picture.bgr = bgr;  // for its memory
    decode_jpeg(jpeg, {kMaxSide * kMaxSide, kMaxSide}, JpegTolerance::kFrame, picture);
    if (picture.problem != DecodeProblem::kNone) return false;
    bgr = picture.bgr;
    note_size(bgr.size());
    return true;
  }
  if (buffer.size < contiguous_size(*raw_)) return false;
  RawPicture picture = *raw_;
  set_planes(buffer.data, picture);
  if (range_) picture.encoding.full_range = range_->is_full(picture);
  converter_.convert(picture, bgr);
  return true;
}

void V4l2Source::keep_jpeg(const V4l2Buffer& buffer, Frame& frame) const {
  frame.is_jpeg = !raw_;
  if (frame.is_jpeg && jpegs_wanted_ != nullptr && *jpegs_wanted_) {
    frame.jpeg.assign(buffer.data, buffer.data + buffer.size);
  } else if (!frame.jpeg.empty()) {
    frame.jpeg = std::vector<unsigned char>();  // which frees its memory, unlike clear()
  }
}

// Some cameras ignore the size that their driver granted.
void V4l2Source::note_size(const cv::Size& size) {
  const V4l2Format& granted = stream_.format();
  if (other_size_noted_ || (size.width == granted.width && size.height == granted.height)) return;
  other_size_noted_ = true;
  info_.shortfall = fmt::format("granted {}x{}, but its pictures are {}x{}", granted.width,
                                granted.height, size.width, size.height);
}

}  // namespace lookout
