#include "platform/cameras/libcamera_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/thread.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/frame_time.h"
#include "platform/cameras/libcamera_name.h"

namespace lookout {
namespace {

namespace lc = libcamera;

constexpr unsigned int kBuffers = 4;
constexpr int kMicroseconds = 1'000'000;

// Cheapest first: BGR is only copied. libcamera names formats as DRM does, by the order in a
// little-endian word: its RGB888 is B G R in memory.
const std::array<std::pair<lc::PixelFormat, RawFormat>, 4> kFormats{{
    {lc::formats::RGB888, RawFormat::kBgr},
    {lc::formats::BGR888, RawFormat::kRgb},
    {lc::formats::NV12, RawFormat::kNv12},
    {lc::formats::YUYV, RawFormat::kYuyv},
}};

std::string message(int error) { return std::generic_category().message(std::abs(error)); }

// A new manager for every opening: it looks for cameras when it starts, and a service without a
// network does not receive the kernel's events about later ones.
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

// The size that was asked for. By default it is 4:3, the shape of most sensors, so that the image
// processor cuts nothing off, and just large enough for the model.
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

// BT.601 of the limited range where the camera does not say; BT.2020 is nearer to BT.709.
YuvEncoding yuv_encoding_of(const lc::StreamConfiguration& stream) {
  if (!stream.colorSpace) return {};
  const auto encoding = stream.colorSpace->ycbcrEncoding;
  const bool hd = encoding == lc::ColorSpace::YcbcrEncoding::Rec709 ||
                  encoding == lc::ColorSpace::YcbcrEncoding::Rec2020;
  return {hd ? ColorMatrix::kBt709 : ColorMatrix::kBt601,
          stream.colorSpace->range == lc::ColorSpace::Range::Full};
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
    throw Error(ErrorKind::kNoInput, fmt::format("{} matches no camera or several; there is {}",
                                                 name_, to_text(descriptions)));
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

// Returns false when the camera does not have the format.
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
  layout_.encoding = yuv_encoding_of(stream);
  if (layout_.stride < min_stride(layout_.format, layout_.width)) return false;
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
    memory_.map(name_, *buffer, layout_);
    auto request = camera_->createRequest();
    if (request == nullptr || request->addBuffer(stream_, buffer.get()) != 0) {
      throw Error(ErrorKind::kDeviceLost, fmt::format("camera {} takes no requests", name_));
    }
    requests_.push_back(std::move(request));
  }
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
                  configuration_->at(0).pixelFormat.toString(), rate_to_text(info_.fps));
}

// Undoes the constructor's steps, as far as they were done, in the opposite order.
void LibcameraSource::close() {
  if (started_) camera_->stop();
  if (camera_ != nullptr) {
    camera_->requestCompleted.disconnect(this);
    camera_->disconnected.disconnect(this);
  }
  {
    const MutexLock lock(mutex_);
    completed_.clear();
  }
  requests_.clear();
  memory_.unmap();
  if (allocator_ != nullptr) allocator_->free(stream_);
  allocator_.reset();
  configuration_.reset();
  if (acquired_) camera_->release();
  camera_.reset();
  if (manager_ != nullptr) manager_->stop();
  manager_.reset();
}

// Called by libcamera's thread.
void LibcameraSource::on_completed(lc::Request* request) {
  if (request->status() == lc::Request::RequestCancelled) return;  // it stops
  {
    const MutexLock lock(mutex_);
    completed_.push_back(request);
  }
  changed_.notify_one();
}

void LibcameraSource::on_disconnected() {
  {
    const MutexLock lock(mutex_);
    disconnected_ = true;
  }
  changed_.notify_one();
}

// Null when none came in time.
lc::Request* LibcameraSource::wait(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const MutexLock lock(mutex_);
  while (!disconnected_ && completed_.empty() && changed_.wait_until(mutex_, deadline)) {
  }
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
  // Not compared with FrameSuccess: libcamera 0.4's virtual camera leaves the status uninitialised.
  const auto status = buffer.metadata().status;
  const bool good =
      status != lc::FrameMetadata::FrameError && status != lc::FrameMetadata::FrameCancelled;
  RawPicture picture = layout_;
  if (good) {
    const auto stamp = request.metadata().get(lc::controls::SensorTimestamp);
    const std::chrono::nanoseconds time(
        stamp ? *stamp : static_cast<std::int64_t>(buffer.metadata().timestamp));
    frame.captured = sensor_frame_time(time, read_clocks());
    memory_.copy_out(buffer, picture);
  }
  give_back(request);
  if (!good) return ReadStatus::kSkipped;
  converter_.convert(picture, frame.bgr);
  frame.capture_duration = Clock::now() - start;
  frame.origin.clear();
  return ReadStatus::kFrame;
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
  static const lookout::LibcameraModule module{{lookout::kLibcameraInterface, LOOKOUT_VERSION},
                                               lookout::list_libcamera_cameras,
                                               lookout::open};
  return &module;
}
