#include "platform/cameras/libcamera_source.h"

#include <fmt/format.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/thread.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/libcamera_name.h"
#include "platform/cameras/sensor_time.h"

namespace lookout {
namespace {

namespace lc = libcamera;

constexpr unsigned int kBuffers = 4;
constexpr int kMicroseconds = 1'000'000;

// The best first: BGR needs a copy only. libcamera names formats as DRM does, by the order in a
// little-endian word: its RGB888 is B G R in memory.
const std::array<std::pair<lc::PixelFormat, RawFormat>, 4> kFormats{{
    {lc::formats::RGB888, RawFormat::kBgr},
    {lc::formats::BGR888, RawFormat::kRgb},
    {lc::formats::NV12, RawFormat::kNv12},
    {lc::formats::YUYV, RawFormat::kYuyv},
}};

std::string message(int error) { return std::generic_category().message(std::abs(error)); }

// A new one for every opening: it looks for cameras when it starts, and the events that would tell
// it of a change do not reach a service without a network.
std::unique_ptr<lc::CameraManager> start_manager() {
  constexpr int kKeep = 0;  // what the user has set
  ::setenv("LIBCAMERA_LOG_LEVELS", "*:ERROR", kKeep);
  const SignalsBlocked blocked;
  auto manager = std::make_unique<lc::CameraManager>();
  const int error = manager->start();
  if (error == 0) return manager;
  throw Error(ErrorKind::kNoInput, fmt::format("libcamera {} cannot look for cameras: {}",
                                               lc::CameraManager::version(), message(error)));
}

// What is asked for; without options a small picture, of the shape of most sensors so that the
// image processor cuts nothing off, that has the pixels which the model makes use of.
lc::Size wanted_size(const SourceOptions& options) {
  const int height =
      options.height.value_or(std::max(options.needed_height, options.needed_width * 3 / 4));
  const int width = options.width.value_or(std::max(options.needed_width, height * 4 / 3));
  return lc::Size(static_cast<unsigned int>(width), static_cast<unsigned int>(height))
      .alignedUpTo(2, 2);
}

LibcameraCamera describe(const lc::Camera& camera) {
  return {camera.id(), camera.properties().get(lc::properties::Model).value_or("")};
}

std::vector<LibcameraCamera> describe(const std::vector<std::shared_ptr<lc::Camera>>& cameras) {
  std::vector<LibcameraCamera> result;
  result.reserve(cameras.size());
  for (const auto& camera : cameras) result.push_back(describe(*camera));
  return result;
}

// Tells the kernel that the processor reads a buffer, where it is one that wants to know.
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

bool is_full_range(const lc::StreamConfiguration& stream) {
  return stream.colorSpace && stream.colorSpace->range == lc::ColorSpace::Range::Full;
}

}  // namespace

std::vector<LibcameraCamera> list_libcamera_cameras() {
  const auto manager = start_manager();
  auto result = describe(manager->cameras());
  manager->stop();
  return result;
}

LibcameraSource::LibcameraSource(const std::string& camera, const SourceOptions& options)
    : name_("csi://" + camera) {
  try {
    manager_ = start_manager();
    choose_camera(camera);
    configure(options);
    map_buffers();
    start(options);
  } catch (...) {
    close();
    throw;
  }
}

LibcameraSource::~LibcameraSource() { close(); }

void LibcameraSource::choose_camera(const std::string& name) {
  const auto cameras = manager_->cameras();
  const auto descriptions = describe(cameras);
  if (cameras.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: libcamera {} sees no camera; on a Raspberry Pi, rpicam-hello "
                            "--list-cameras tells whether its own does",
                            name_, lc::CameraManager::version()));
  }
  const auto found = find_camera(descriptions, name);
  if (!found) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: no camera, or more than one, is meant; there is {}", name_,
                            text_of(descriptions)));
  }
  camera_ = cameras[*found];
  info_.name = descriptions[*found].model.empty() ? "csi" + std::to_string(*found)
                                                  : descriptions[*found].model;
  info_.description = fmt::format("{} ({})", name_, camera_->id());
  const int error = camera_->acquire();
  acquired_ = error == 0;
  if (acquired_) return;
  throw Error(ErrorKind::kDeviceLost,
              error == -EBUSY
                  ? fmt::format("camera {} is in use by another program", name_)
                  : fmt::format("camera {} cannot be taken: {}", name_, message(error)));
}

void LibcameraSource::configure(const SourceOptions& options) {
  for (const auto& [format, raw] : kFormats) {
    configuration_ = camera_->generateConfiguration({lc::StreamRole::Viewfinder});
    if (configuration_ == nullptr || configuration_->empty()) break;
    lc::StreamConfiguration& stream = configuration_->at(0);
    stream.pixelFormat = format;
    layout_.format = raw;
    if (configure_as(*configuration_, options) && stream.pixelFormat == format) {
      stream_ = stream.stream();
      return;
    }
  }
  throw Error(ErrorKind::kNoInput,
              fmt::format("camera {} has no picture format that can be read (RGB888, BGR888, NV12, "
                          "YUYV)",
                          name_));
}

// False when the camera does not have the format.
bool LibcameraSource::configure_as(lc::CameraConfiguration& configuration,
                                   const SourceOptions& options) {
  lc::StreamConfiguration& stream = configuration.at(0);
  const lc::PixelFormat format = stream.pixelFormat;
  stream.size = wanted_size(options);
  stream.bufferCount = kBuffers;
  const bool valid = configuration.validate() != lc::CameraConfiguration::Invalid;
  if (!valid || stream.pixelFormat != format) return false;
  const int error = camera_->configure(&configuration);
  if (error != 0) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} cannot be set up: {}", name_, message(error)));
  }
  layout_.width = static_cast<int>(stream.size.width);
  layout_.height = static_cast<int>(stream.size.height);
  layout_.stride = stream.stride;
  layout_.full_range = is_full_range(stream);
  if (layout_.stride < least_stride(layout_.format, layout_.width)) return false;
  return true;
}

void LibcameraSource::map_buffers() {
  allocator_ = std::make_unique<lc::FrameBufferAllocator>(camera_);
  const int count = allocator_->allocate(stream_);
  if (count <= 0) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} gives no buffers: {}", name_, message(count)));
  }
  for (const auto& buffer : allocator_->buffers(stream_)) {
    std::vector<Plane>& planes = planes_[buffer.get()];
    for (const lc::FrameBuffer::Plane& plane : buffer->planes()) {
      // More of them, as libcamera 0.4's virtual camera has, hold nothing.
      if (planes.size() == plane_count(layout_.format)) break;
      const int fd = plane.fd.get();
      planes.push_back({map(fd, plane.offset + plane.length) + plane.offset, plane.length, fd});
    }
    bool enough = planes.size() == plane_count(layout_.format);
    for (std::size_t i = 0; enough && i < planes.size(); ++i) {
      enough = planes[i].size >=
               plane_size(layout_.format, layout_.width, layout_.height, layout_.stride, i);
    }
    if (!enough) {
      throw Error(ErrorKind::kDeviceLost,
                  fmt::format("camera {} gives buffers that are smaller than its picture", name_));
    }
    auto request = camera_->createRequest();
    if (request == nullptr || request->addBuffer(stream_, buffer.get()) != 0) {
      throw Error(ErrorKind::kDeviceLost, fmt::format("camera {} takes no requests", name_));
    }
    requests_.push_back(std::move(request));
  }
}

// The first `length` bytes of a buffer, of which other planes may have been mapped.
const std::uint8_t* LibcameraSource::map(int fd, std::size_t length) {
  const auto size = static_cast<std::size_t>(std::max<off_t>(0, ::lseek(fd, 0, SEEK_END)));
  const auto known = mapped_.find(fd);
  if (known != mapped_.end()) return static_cast<const std::uint8_t*>(known->second.first);
  const std::size_t all = std::max(size, length);
  void* memory = ::mmap(nullptr, all, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {}: its memory cannot be read: {}", name_, message(errno)));
  }
  mapped_[fd] = {memory, all};
  return static_cast<const std::uint8_t*>(memory);
}

void LibcameraSource::start(const SourceOptions& options) {
  camera_->requestCompleted.connect(this, &LibcameraSource::on_completed);
  camera_->disconnected.connect(this, &LibcameraSource::on_disconnected);
  const ModeWish wish = wish_of(options);
  lc::ControlList controls(camera_->controls());
  const auto limits = camera_->controls().find(&lc::controls::FrameDurationLimits);
  if (limits != camera_->controls().end()) {
    info_.asked_fps = wish.framerate;
    const std::int64_t duration = std::clamp<std::int64_t>(
        std::llround(kMicroseconds / wish.framerate), limits->second.min().get<std::int64_t>(),
        limits->second.max().get<std::int64_t>());
    const std::array<std::int64_t, 2> both{duration, duration};
    controls.set(lc::controls::FrameDurationLimits, lc::Span<const std::int64_t, 2>(both));
    if (duration > 0)
      info_.fps = static_cast<double>(kMicroseconds) / static_cast<double>(duration);
  }
  const SignalsBlocked blocked;  // some pipelines start threads now
  const int error = camera_->start(&controls);
  if (error != 0) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} cannot be started: {}", name_, message(error)));
  }
  started_ = true;
  for (const auto& request : requests_) camera_->queueRequest(request.get());
  info_.live = true;
  info_.shortfall = shortfall_of(wish, layout_.width, layout_.height, info_.fps);
  info_.description +=
      fmt::format(", {}x{} {}, {}", layout_.width, layout_.height,
                  configuration_->at(0).pixelFormat.toString(), text_of_rate(info_.fps));
}

// In the opposite order, as far as it came.
void LibcameraSource::close() {
  if (started_) camera_->stop();
  if (camera_ != nullptr) {
    camera_->requestCompleted.disconnect(this);
    camera_->disconnected.disconnect(this);
  }
  completed_.clear();
  requests_.clear();
  for (const auto& entry : mapped_) ::munmap(entry.second.first, entry.second.second);
  mapped_.clear();
  if (allocator_ != nullptr) allocator_->free(stream_);
  allocator_.reset();
  configuration_.reset();
  if (acquired_) camera_->release();
  camera_.reset();
  if (manager_ != nullptr) manager_->stop();
  manager_.reset();
}

// In libcamera's thread.
void LibcameraSource::on_completed(lc::Request* request) {
  if (request->status() == lc::Request::RequestCancelled) return;  // it stops
  {
    const std::lock_guard lock(mutex_);
    completed_.push_back(request);
  }
  changed_.notify_one();
}

void LibcameraSource::on_disconnected() {
  {
    const std::lock_guard lock(mutex_);
    disconnected_ = true;
  }
  changed_.notify_one();
}

// Null when none came in time.
lc::Request* LibcameraSource::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return disconnected_ || !completed_.empty(); });
  if (disconnected_) {
    throw Error(ErrorKind::kDeviceLost, fmt::format("{} was disconnected", name_));
  }
  if (completed_.empty()) return nullptr;
  lc::Request* request = completed_.front();
  completed_.pop_front();
  return request;
}

ReadStatus LibcameraSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  lc::Request* request = wait(timeout);
  return request == nullptr ? ReadStatus::kTimeout : take(*request, frame);
}

ReadStatus LibcameraSource::take(lc::Request& request, Frame& frame) {
  const auto start = Clock::now();
  const lc::FrameBuffer& buffer = *request.buffers().at(stream_);
  // Not "is FrameSuccess": libcamera 0.4's virtual camera leaves the status uninitialised.
  const auto status = buffer.metadata().status;
  const bool good =
      status != lc::FrameMetadata::FrameError && status != lc::FrameMetadata::FrameCancelled;
  RawPicture picture = layout_;
  if (good) {
    const auto stamp = request.metadata().get(lc::controls::SensorTimestamp);
    const std::chrono::nanoseconds time(
        stamp ? *stamp : static_cast<std::int64_t>(buffer.metadata().timestamp));
    frame.captured = time_of_sensor(time, read_clocks());
    copy_out(buffer, picture);
  }
  give_back(request);
  if (!good) return ReadStatus::kSkipped;
  converter_.convert(picture, frame.bgr);
  frame.capture_duration = Clock::now() - start;
  frame.origin.clear();
  return ReadStatus::kFrame;
}

// The camera's memory is slow to read, and wanted back.
void LibcameraSource::copy_out(const lc::FrameBuffer& buffer, RawPicture& picture) {
  const std::vector<Plane>& planes = planes_.at(&buffer);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const ReadAccess access(planes[i].fd);
    const std::size_t size =
        plane_size(layout_.format, layout_.width, layout_.height, layout_.stride, i);
    copies_[i].resize(size);
    std::memcpy(copies_[i].data(), planes[i].data, size);
    picture.planes[i] = copies_[i].data();
  }
}

void LibcameraSource::give_back(lc::Request& request) {
  request.reuse(lc::Request::ReuseBuffers);
  camera_->queueRequest(&request);
}

namespace {

std::unique_ptr<Source> open(const std::string& camera, const SourceOptions& options) {
  return std::make_unique<LibcameraSource>(camera, options);
}

}  // namespace
}  // namespace lookout

extern "C" const lookout::LibcameraModule* lookout_libcamera() {
  static const lookout::LibcameraModule module{lookout::kLibcameraInterface, LOOKOUT_VERSION,
                                               lookout::list_libcamera_cameras, lookout::open};
  return &module;
}
