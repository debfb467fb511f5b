#include "platform/cameras/libcamera_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/thread.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/frame_time.h"
#include "platform/cameras/libcamera_log.h"
#include "platform/cameras/raw_converter.h"
#include "platform/cameras/v4l2_device.h"

namespace lookout {
namespace {

constexpr std::uint32_t kRequests = 4;
constexpr double kMicrosecondsPerSecond = 1e6;
constexpr std::size_t kMaxModes = 64;

constexpr std::uint32_t drm_fourcc(char a, char b, char c, char d) {
  return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 8U |
         static_cast<std::uint32_t>(c) << 16U | static_cast<std::uint32_t>(d) << 24U;
}

struct StreamFormat {
  std::uint32_t fourcc;
  RawFormat raw;
  const char* name;  // libcamera's
};

// Cheapest first: BGR is only copied. DRM names formats by their order in a little-endian word: its
// RGB888 is B G R in memory.
constexpr std::array<StreamFormat, 4> kStreamFormats{
    {{drm_fourcc('R', 'G', '2', '4'), RawFormat::kBgr, "RGB888"},
     {drm_fourcc('B', 'G', '2', '4'), RawFormat::kRgb, "BGR888"},
     {drm_fourcc('N', 'V', '1', '2'), RawFormat::kNv12, "NV12"},
     {drm_fourcc('Y', 'U', 'Y', 'V'), RawFormat::kYuyv, "YUYV"}}};

std::string message(int error) { return std::generic_category().message(std::abs(error)); }

// A new manager for every opening: it looks for cameras when it starts, and a service without a
// network does not receive the kernel's events about later ones.
LibcameraManager start_manager(const LookoutLibcamera& module) {
  constexpr int kKeep = 0;  // what the user has set
  ::setenv("LIBCAMERA_LOG_LEVELS", "*:ERROR", kKeep);
  // A file or syslog that the user has set stays.
  if (std::getenv("LIBCAMERA_LOG_FILE") == nullptr) {
    module.log_to([](const char* text, std::size_t size) { libcamera_log().write({text, size}); });
  }
  const SignalsBlocked blocked;
  LookoutManager* manager = nullptr;
  const int error = module.start(&manager);
  if (error == 0) return {manager, module.stop};
  throw Error(ErrorKind::kNoInput, fmt::format("libcamera {} cannot look for cameras: {}",
                                               module.version(), message(error)));
}

std::vector<LibcameraCamera> cameras_of(const LookoutLibcamera& module,
                                        const LookoutManager* manager) {
  std::vector<LibcameraCamera> cameras(module.camera_count(manager));
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    cameras[i] = {module.camera_id(manager, i), module.camera_model(manager, i), i};
  }
  return order_cameras(std::move(cameras));
}

LibcameraHandle open_camera(const LookoutLibcamera& module, LookoutManager* manager,
                            const LibcameraCamera& camera, const std::string& name) {
  LookoutCamera* opened = nullptr;
  const int error = module.open(manager, camera.index, &opened);
  if (error == 0) return {opened, module.close};
  throw Error(ErrorKind::kDeviceLost,
              error == -EBUSY
                  ? fmt::format("camera {} is in use by another program", name)
                  : fmt::format("camera {} cannot be opened: {}", name, message(error)));
}

constexpr int even(int value) { return value + value % 2; }

// The size that was asked for. By default it is 4:3, the shape of most sensors, so that the image
// processor cuts nothing off, and just large enough for the model.
SensorSize wanted_size(const ModeWish& wish) {
  const int height = wish.height.value_or(std::max(wish.needed_height, wish.needed_width * 3 / 4));
  const int width = wish.width.value_or(std::max(wish.needed_width, height * 4 / 3));
  return {even(width), even(height)};
}

std::vector<SensorMode> sensor_modes(const LookoutLibcamera& module, LookoutCamera* camera,
                                     SensorSize& active) {
  std::array<LookoutSensorMode, kMaxModes> modes{};
  LookoutSensorMode pixels{};
  const std::size_t count = module.sensor_modes(camera, modes.data(), modes.size(), &pixels);
  active = {pixels.width, pixels.height};
  std::vector<SensorMode> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({modes[i].width, modes[i].height, modes[i].bits});
  }
  return result;
}

// As LookoutLibcamera::configure.
int configure_camera(const LookoutLibcamera& module, LookoutCamera* camera, std::uint32_t fourcc,
                     const SensorSize& size, const SensorMode& mode, LookoutStream& granted) {
  LookoutStreamRequest wish{};
  wish.fourcc = fourcc;
  wish.width = size.width;
  wish.height = size.height;
  wish.buffers = kRequests;
  wish.sensor_mode = {mode.width, mode.height, mode.bits};
  granted = {};
  return module.configure(camera, &wish, &granted);
}

GrantedSensorMode granted_mode(const SensorMode& mode, const LookoutStream& stream) {
  const double fps =
      stream.min_frame_duration > 0 ? kMicrosecondsPerSecond / stream.min_frame_duration : 0;
  return {mode, fps, stream.field_width, stream.field_height};
}

// Those of `modes` that the camera grants, in the same order, with the first format that it has.
std::vector<GrantedSensorMode> granted_modes(const LookoutLibcamera& module, LookoutCamera* camera,
                                             const SensorSize& size,
                                             const std::vector<SensorMode>& modes) {
  std::vector<GrantedSensorMode> granted;
  for (const StreamFormat& format : kStreamFormats) {
    for (const SensorMode& mode : modes) {
      LookoutStream stream{};
      if (configure_camera(module, camera, format.fourcc, size, mode, stream) != 0) continue;
      granted.push_back(granted_mode(mode, stream));
    }
    if (!granted.empty()) break;
  }
  return granted;
}

SensorModes modes_of(const LookoutLibcamera& module, LookoutCamera* camera, const ModeWish& wish) {
  const SensorSize size = wanted_size(wish);
  SensorSize active;
  const auto offered = sensor_modes(module, camera, active);
  SensorModes result;
  result.modes = granted_modes(module, camera, size, offered);
  const auto preferred = choose_sensor_mode(offered, active, size);
  auto by_preference = result.modes;
  const auto end = std::stable_partition(by_preference.begin(), by_preference.end(),
                                         [&](const auto& m) { return m.mode == preferred; });
  if (end != by_preference.begin()) {
    result.taken = choose_fast_mode(by_preference, wish.framerate).mode;
  }
  return result;
}

// The first that is there, as in rpicam-apps: Raspberry Pi OS's name for the cached heap of the
// board, then the kernel's for its contiguous memory, before and since Linux 6.17.
const std::array<const char*, 4> kHeaps{"vidbuf_cached", "linux,cma", "default_cma_region",
                                        "reserved"};

// Tells the kernel that the processor reads a frame. Memory that is not a DMA buffer's ignores it.
class FrameAccess {
 public:
  explicit FrameAccess(const LookoutFrame& frame) : frame_(frame) { sync(DMA_BUF_SYNC_START); }
  ~FrameAccess() { sync(DMA_BUF_SYNC_END); }
  FrameAccess(const FrameAccess&) = delete;
  FrameAccess& operator=(const FrameAccess&) = delete;

 private:
  void sync(std::uint64_t what) const {
    dma_buf_sync argument{};
    argument.flags = DMA_BUF_SYNC_READ | what;
    for (std::size_t i = 0; i < frame_.plane_count; ++i) {
      ::ioctl(frame_.planes[i].fd, DMA_BUF_IOCTL_SYNC, &argument);
    }
  }

  const LookoutFrame& frame_;
};

}  // namespace

LibcameraBuffers::~LibcameraBuffers() {
  for (const auto& entry : mapped_) ::munmap(entry.second.memory, entry.second.size);
  close_all();
}

const std::vector<int>& LibcameraBuffers::allocate(std::size_t count, std::size_t size) {
  for (const std::string name : kHeaps) {
    const std::string heap = "/dev/dma_heap/" + name;
    if (!allocate_from(heap, count, size)) continue;
    heap_ = heap;
    break;
  }
  return allocated_;
}

bool LibcameraBuffers::allocate_from(const std::string& heap, std::size_t count, std::size_t size) {
  const int device = ::open(heap.c_str(), O_RDWR | O_CLOEXEC);
  if (device < 0) return false;
  dma_heap_allocation_data request{};
  while (allocated_.size() < count) {
    request = {};
    request.len = size;
    request.fd_flags = O_RDWR | O_CLOEXEC;
    if (::ioctl(device, DMA_HEAP_IOCTL_ALLOC, &request) != 0) break;
    allocated_.push_back(static_cast<int>(request.fd));
  }
  ::close(device);
  const bool complete = allocated_.size() == count;
  if (!complete) close_all();
  return complete;
}

void LibcameraBuffers::close_all() {
  for (const int fd : allocated_) ::close(fd);
  allocated_.clear();
}

const unsigned char* LibcameraBuffers::address(const std::string& camera,
                                               const LookoutPlane& plane) {
  auto mapping = mapped_.find(plane.fd);
  if (mapping == mapped_.end()) {
    const auto all = static_cast<std::size_t>(std::max<off_t>(0, ::lseek(plane.fd, 0, SEEK_END)));
    const std::size_t size = std::max(all, plane.offset + plane.size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, plane.fd, 0);
    if (memory == MAP_FAILED) {
      throw Error(ErrorKind::kDeviceLost,
                  fmt::format("camera {}: its memory cannot be read: {}", camera, message(errno)));
    }
    mapping = mapped_.emplace(plane.fd, Mapping{memory, size}).first;
  }
  return static_cast<const unsigned char*>(mapping->second.memory) + plane.offset;
}

void LibcameraBuffers::map(const std::string& camera, const LookoutFrame& frame,
                           RawPicture& picture) {
  // libcamera 0.4's virtual camera has further planes, which hold nothing.
  const std::size_t count = plane_count(picture.format);
  bool enough = frame.plane_count >= count;
  for (std::size_t i = 0; enough && i < count; ++i) {
    const std::size_t size =
        plane_size(picture.format, picture.width, picture.height, picture.stride, i);
    enough = frame.planes[i].size >= size;
    if (enough) picture.planes[i] = address(camera, frame.planes[i]);
  }
  if (enough) return;
  throw Error(ErrorKind::kDeviceLost,
              fmt::format("camera {} gives buffers that are smaller than its picture", camera));
}

std::vector<LibcameraCamera> list_libcamera_cameras(const LookoutLibcamera& module) {
  const LibcameraManager manager = start_manager(module);
  return cameras_of(module, manager.get());
}

std::map<std::string, SensorModes> list_sensor_modes(const LookoutLibcamera& module,
                                                     const ModeWish& wish) {
  const LibcameraManager manager = start_manager(module);
  const auto cameras = cameras_of(module, manager.get());
  std::map<std::string, SensorModes> modes;
  for (std::size_t i = 0; i < cameras.size(); ++i) {
    try {
      const LibcameraHandle camera =
          open_camera(module, manager.get(), cameras[i], fmt::format("csi://{}", i));
      modes[cameras[i].id] = modes_of(module, camera.get(), wish);
    } catch (const Error& error) {
      modes[cameras[i].id].problem = error.what();
    }
  }
  return modes;
}

LibcameraSource::LibcameraSource(const LookoutLibcamera& module, const std::string& camera,
                                 const SourceOptions& options)
    : module_(module),
      name_("csi://" + camera),
      manager_(start_manager(module)),
      camera_(nullptr, module.close) {
  choose_camera(camera);
  configure(options);
  start(options);
}

void LibcameraSource::choose_camera(const std::string& name) {
  const auto cameras = cameras_of(module_, manager_.get());
  if (cameras.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: libcamera {} sees no camera; on a Raspberry Pi, rpicam-hello "
                            "--list-cameras tells whether its own does",
                            name_, module_.version()));
  }
  const auto found = find_camera(cameras, name);
  if (!found) {
    throw Error(ErrorKind::kNoInput, fmt::format("{} matches no camera or several; there is {}",
                                                 name_, to_text(cameras)));
  }
  const LibcameraCamera& camera = cameras[*found];
  info_.name = camera.model.empty() ? "csi" + std::to_string(*found) : camera.model;
  info_.description = fmt::format("{} ({})", name_, camera.id);
  info_.has_sensor = !is_virtual(camera.id);
  camera_ = open_camera(module_, manager_.get(), camera, name_);
}

void LibcameraSource::configure(const SourceOptions& options) {
  const ModeWish wish = wish_of(options);
  const SensorSize size = wanted_size(wish);
  SensorSize active;
  const auto modes = sensor_modes(module_, camera_.get(), active);
  const auto mode = choose_sensor_mode(modes, active, size);
  for (const StreamFormat& format : kStreamFormats) {
    if (mode && request(format.fourcc, size, *mode)) {
      if (!reaches(granted_mode(sensor_mode_, stream_), wish.framerate)) {
        take_fast_mode(format.fourcc, size, modes, wish.framerate);
      }
    } else if (!request(format.fourcc, size, {})) {
      continue;
    }
    if (!set_layout(format.raw)) continue;
    if (is_subsampled(format.raw) && !layout_.encoding.range_declared) range_.emplace(name_);
    info_.description += fmt::format(", {}x{} {}", layout_.width, layout_.height, format.name);
    return;
  }
  throw Error(ErrorKind::kNoInput,
              fmt::format("camera {} has no picture format that can be read (RGB888, BGR888, NV12, "
                          "YUYV)",
                          name_));
}

// As granted. Returns false when a line has no room for its pixels.
bool LibcameraSource::set_layout(RawFormat format) {
  layout_.format = format;
  layout_.width = stream_.width;
  layout_.height = stream_.height;
  layout_.stride = stream_.stride;
  layout_.encoding = {stream_.is_bt709 != 0 ? ColorMatrix::kBt709 : ColorMatrix::kBt601,
                      stream_.range == LOOKOUT_RANGE_FULL,
                      stream_.range != LOOKOUT_RANGE_UNDECLARED};
  return layout_.stride >= min_stride(layout_.format, layout_.width);
}

// Returns false when the camera cannot do that.
bool LibcameraSource::request(std::uint32_t fourcc, const SensorSize& size,
                              const SensorMode& mode) {
  LookoutStream granted{};
  const int error = configure_camera(module_, camera_.get(), fourcc, size, mode, granted);
  if (error == -EINVAL) return false;
  if (error != 0) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} cannot be set up: {}", name_, message(error)));
  }
  stream_ = granted;
  sensor_mode_ = mode;
  return true;
}

// The mode that shows most is too slow: what the others can do is known when they are set.
void LibcameraSource::take_fast_mode(std::uint32_t fourcc, const SensorSize& size,
                                     const std::vector<SensorMode>& modes, double framerate) {
  std::vector<GrantedSensorMode> granted{granted_mode(sensor_mode_, stream_)};
  for (const SensorMode& mode : modes) {
    if (request(fourcc, size, mode)) granted.push_back(granted_mode(sensor_mode_, stream_));
  }
  const GrantedSensorMode chosen = choose_fast_mode(granted, framerate);
  request(fourcc, size, chosen.mode);
  if (field_of(chosen) > 0 && field_of(chosen) < field_of(granted.front())) {
    log_warn("{}: at {} the sensor shows {} instead of {}", name_, rate_to_text(framerate),
             field_to_text(chosen), field_to_text(granted.front()));
  }
}

void LibcameraSource::start(const SourceOptions& options) {
  const FindControl find = [this](const std::string& name) -> std::optional<ControlRange> {
    LookoutControlRange range{};
    if (module_.control(camera_.get(), name.c_str(), &range) != 0) return std::nullopt;
    return ControlRange{range.min, range.max};
  };
  const ModeWish wish = wish_of(options);
  auto controls = settings_of(name_, options.controls, find);
  if (stream_.max_frame_duration > 0) {
    const double duration =
        frame_duration(wish.framerate, {stream_.min_frame_duration, stream_.max_frame_duration});
    controls.push_back({"FrameDurationLimits", {duration, duration}});
    info_.asked_fps = wish.framerate;
    info_.fps = kMicrosecondsPerSecond / duration;
  }
  std::vector<LookoutSetting> settings;
  settings.reserve(controls.size());
  for (const ControlSetting& control : controls) {
    settings.push_back({control.name.c_str(), control.values.data(), control.values.size()});
  }
  std::vector<int> memory;
  if (plane_count(layout_.format) == 1) memory = memory_.allocate(kRequests, stream_.frame_size);
  const LookoutStart request{memory.data(), memory.size(), settings.data(), settings.size()};
  const SignalsBlocked blocked;  // some pipelines start threads now
  const int error = module_.start_camera(camera_.get(), &request);
  if (error != 0) {
    throw Error(ErrorKind::kDeviceLost,
                fmt::format("camera {} cannot be started: {}", name_, message(error)));
  }
  info_.live = true;
  info_.shortfall = shortfall_of(wish, layout_.width, layout_.height, info_.fps);
  info_.description += ", " + rate_to_text(info_.fps);
  if (sensor_mode_.width > 0) {
    info_.description += ", sensor " + to_text(granted_mode(sensor_mode_, stream_));
  }
  log_debug("{}: libcamera {}, memory of {}", name_, module_.version(),
            memory_.heap().empty() ? "the driver" : memory_.heap());
}

ReadStatus LibcameraSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    LookoutFrame raw{};
    const int error = module_.next_frame(
        camera_.get(), static_cast<std::int32_t>(std::max<std::int64_t>(0, left.count())), &raw);
    if (error == -EAGAIN) return ReadStatus::kTimeout;
    if (error == -ECANCELED) {
      throw Error(ErrorKind::kDeviceLost,
                  fmt::format("{}: libcamera {} gave up a frame: the sensor sends none", name_,
                              module_.version()));
    }
    if (error != 0) {
      throw Error(ErrorKind::kDeviceLost, fmt::format("{} was disconnected", name_));
    }
    // Not compared with success: libcamera 0.4's virtual camera leaves the status uninitialised.
    const bool damaged = raw.status == LOOKOUT_FRAME_ERROR || raw.status == LOOKOUT_FRAME_CANCELLED;
    if (!damaged && raw.status != LOOKOUT_FRAME_STARTUP) return take(raw, frame);
    module_.give_back(camera_.get(), &raw);
    if (damaged && good_seen_) return ReadStatus::kSkipped;
  }
}

ReadStatus LibcameraSource::take(const LookoutFrame& raw, Frame& frame) {
  const auto start = Clock::now();
  RawPicture picture = layout_;
  frame.captured = sensor_frame_time(std::chrono::nanoseconds(raw.time), read_clocks());
  memory_.map(name_, raw, picture);
  {
    const FrameAccess access(raw);
    if (range_) picture.encoding.full_range = range_->is_full(picture);
    take_picture(picture, frame);
  }
  module_.give_back(camera_.get(), &raw);
  if (!good_seen_) libcamera_log().forget();
  good_seen_ = true;
  frame.capture_duration = Clock::now() - start;
  frame.origin.clear();
  return ReadStatus::kFrame;
}

}  // namespace lookout
