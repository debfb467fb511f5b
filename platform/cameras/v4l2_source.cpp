#include "platform/cameras/v4l2_source.h"

#include <fmt/format.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/cameras/frame_time.h"
#include "platform/cameras/raw_converter.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMaxGap = 10'000;  // frames; beyond that the driver's count jumped

// A frame keeps the memory of all its pixels, for which a JPEG that is on its way has no use.
void swap_but_whole(CameraPicture& one, CameraPicture& other) {
  std::swap(one, other);
  std::swap(one.whole, other.whole);
}

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

void V4l2Stream::Unmap::operator()(unsigned char* start) const { ::munmap(start, length); }

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
    mappings_.emplace_back(static_cast<unsigned char*>(start), Unmap{buffer.length});
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
bool V4l2Stream::wait(std::chrono::milliseconds timeout, int other_fd) const {
  std::array<pollfd, 2> both{{{device_.fd(), POLLIN, 0}, {other_fd, POLLIN, 0}}};
  const pollfd& device = both.front();
  const int count =
      ::poll(both.data(), both.size(), std::max(0, static_cast<int>(timeout.count())));
  if (count < 0 && errno != EINTR) throw lost();
  if (count <= 0) return false;
  if ((device.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) throw lost();
  return device.revents != 0;
}

std::optional<V4l2Buffer> V4l2Stream::take(std::chrono::milliseconds timeout, int other_fd) {
  if (!started_) start();
  if (!wait(timeout, other_fd)) return std::nullopt;
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
  filled.data = mapping.get();
  filled.size = std::min<std::size_t>(buffer.bytesused, mapping.get_deleter().length);
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

std::string probe_camera(const std::string& path) {
  const V4l2Device device(path);
  const NodeKind kind = kind_of(device.info(), camera_formats(device, path));
  if (kind != NodeKind::kCamera) throw not_a_camera(path, kind);
  return device.info().card;
}

V4l2Source::V4l2Source(const std::string& path, const SourceOptions& options, JpegNow now)
    : path_(path),
      wish_(wish_of(options)),
      device_(path),
      stream_(device_, path, choose(device_, path, wish_)),
      raw_(raw_picture_of(stream_.format())),
      reader_(options.frame_hint),
      load_(stream_.format().fps),
      now_(std::move(now)) {
  const V4l2Format& granted = stream_.format();
  if (!can_be_read(granted.fourcc)) throw no_readable_format(path, {granted.fourcc});
  const bool has_range = raw_ && is_subsampled(raw_->format);
  if (has_range && !raw_->encoding.range_declared) range_.emplace(path);
  info_.name = fs::path(path).filename().string();
  info_.description =
      fmt::format("{} ({}), {}x{} {}, {}", path, device_.info().card, granted.width, granted.height,
                  fourcc_to_text(granted.fourcc), rate_to_text(granted.fps));
  info_.live = true;
  info_.has_sensor = !is_virtual(device_.info().driver);
  info_.fps = granted.fps;
  info_.asked_fps = wish_.framerate;
  info_.shortfall = shortfall_of(wish_, granted.width, granted.height, granted.fps);
}

V4l2Source::~V4l2Source() {
  if (dropped_ > 0) log_debug("{}: the driver dropped {} frames", path_, dropped_);
}

ReadStatus V4l2Source::read(Frame& frame, std::chrono::milliseconds timeout) {
  return raw_ ? read_raw(frame, timeout) : read_jpeg(frame, timeout);
}

ReadStatus V4l2Source::read_raw(Frame& frame, std::chrono::milliseconds timeout) {
  const auto buffer = stream_.take(timeout);
  if (!buffer) return ReadStatus::kTimeout;
  count_dropped(buffer->sequence);
  const auto start = Clock::now();
  const bool good = !buffer->damaged && take_raw(*buffer, frame);
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
bool V4l2Source::take_raw(const V4l2Buffer& buffer, Frame& frame) {
  if (buffer.size < contiguous_size(*raw_)) return false;
  RawPicture picture = *raw_;
  set_planes(buffer.data, picture);
  if (range_) picture.encoding.full_range = range_->is_full(picture);
  take_picture(picture, frame);
  return true;
}

ReadStatus V4l2Source::read_jpeg(Frame& frame, std::chrono::milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  for (;;) {
    if (thread_) {
      if (dropped_told_ < thread_->dropped()) {
        ++dropped_told_;
        return ReadStatus::kDropped;
      }
      if (thread_->take(job_)) return finish_jpeg(frame);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const auto buffer = next_jpeg(frame, left);
    if (!buffer) {
      const bool is_done = thread_ && thread_->take(job_);
      return is_done ? finish_jpeg(frame) : ReadStatus::kTimeout;
    }
    if (buffer->damaged) return ReadStatus::kSkipped;
    if (!load_.apart() && (!thread_ || thread_->idle())) {
      decode(reader_, now_, job_);
      return finish_jpeg(frame);
    }
    if (!thread_) thread_.emplace(reader_, now_);
    thread_->put(job_);
  }
}

// Copies the next JPEG into job_, with the memory of `frame`. The buffer was given back.
std::optional<V4l2Buffer> V4l2Source::next_jpeg(Frame& frame, std::chrono::milliseconds timeout) {
  const auto buffer = stream_.take(timeout, thread_ ? thread_->done_fd() : -1);
  if (!buffer) return buffer;
  count_dropped(buffer->sequence);
  const auto start = Clock::now();
  swap_but_whole(frame.picture, job_.picture);
  job_.picture.begin(CameraPicture::Kind::kJpeg, decode_camera_jpeg);
  job_.picture.bytes.assign(buffer->data, buffer->data + buffer->size);
  stream_.give_back(*buffer);
  job_.captured = buffer->captured;
  job_.copying = Clock::now() - start;
  return buffer;
}

// Of job_, which is decoded.
ReadStatus V4l2Source::finish_jpeg(Frame& frame) {
  if (job_.error) std::rethrow_exception(job_.error);
  load_.add(job_.decoding, job_.captured);
  if (!job_.size) return ReadStatus::kSkipped;
  note_size(*job_.size);
  swap_but_whole(frame.picture, job_.picture);
  frame.captured = job_.captured;
  frame.capture_duration = job_.copying + job_.decoding;
  frame.origin.clear();
  return ReadStatus::kFrame;
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
