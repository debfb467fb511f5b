// The module for libcamera: see libcamera_module.h. Compiles with libcamera 0.0.3 to 0.7.
#include "libcamera_module.h"  // beside this file, also where it is built alone

#include <libcamera/libcamera.h>
#include <libcamera/logging.h>
#include <libcamera/version.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

namespace lc = libcamera;

#define LOOKOUT_HAS_SENSOR_CONFIG (LIBCAMERA_VERSION_MAJOR > 0 || LIBCAMERA_VERSION_MINOR >= 2)

namespace {

// A control's value as libcamera's type, or an empty one.
template <typename T>
lc::ControlValue value_of(const LookoutSetting& setting) {
  lc::ControlValue value;
  if (setting.count == 1) {
    value.set(static_cast<T>(setting.values[0]));
  } else {
    const std::vector<T> values(setting.values, setting.values + setting.count);
    value.set(lc::Span<const T>(values.data(), values.size()));
  }
  return value;
}

lc::ControlValue value_of(lc::ControlType type, const LookoutSetting& setting) {
  if (type == lc::ControlTypeBool) return lc::ControlValue(setting.values[0] != 0);
  if (type == lc::ControlTypeInteger32) return value_of<std::int32_t>(setting);
  if (type == lc::ControlTypeInteger64) return value_of<std::int64_t>(setting);
  return type == lc::ControlTypeFloat ? value_of<float>(setting) : lc::ControlValue();
}

double number_of(const lc::ControlValue& value) {
  const lc::ControlType type = value.isArray() ? lc::ControlTypeNone : value.type();
  if (type == lc::ControlTypeBool) return value.get<bool>() ? 1 : 0;
  if (type == lc::ControlTypeInteger32) return value.get<std::int32_t>();
  if (type == lc::ControlTypeInteger64) return static_cast<double>(value.get<std::int64_t>());
  return type == lc::ControlTypeFloat ? static_cast<double>(value.get<float>()) : 0;
}

const lc::ControlId* find_control(const lc::Camera& camera, const std::string& name) {
  for (const auto& [id, info] : camera.controls()) {
    if (id->name() == name) return id;
  }
  return nullptr;
}

lc::Size active_size(const lc::Camera& camera) {
  const auto areas = camera.properties().get(lc::properties::PixelArrayActiveAreas);
  if (areas && !areas->empty()) return (*areas)[0].size();
  return camera.properties().get(lc::properties::PixelArraySize).value_or(lc::Size());
}

// Runs a step of a constructor's kind: no exception leaves the module.
template <typename Step>
int guarded(Step step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (...) {
    return -EIO;
  }
}

// Hands on what libcamera writes: a call for each of its messages. Several threads may write.
class LogBuffer : public std::streambuf {
 public:
  explicit LogBuffer(void (*write)(const char*, std::size_t)) : write_(write) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    write_(text, static_cast<std::size_t>(size));
    return size;
  }
  int_type overflow(int_type letter) override {
    const char text = traits_type::to_char_type(letter);
    if (!traits_type::eq_int_type(letter, traits_type::eof())) write_(&text, 1);
    return traits_type::not_eof(letter);
  }

 private:
  void (*const write_)(const char*, std::size_t);
};

// libcamera keeps the stream until the process ends.
void log_to(void (*write)(const char*, std::size_t)) {
  static auto* const stream = new std::ostream(new LogBuffer(write));
  lc::logSetStream(stream);
}

}  // namespace

struct LookoutManager {
  lc::CameraManager manager;
  std::vector<std::shared_ptr<lc::Camera>> cameras;
  std::vector<std::string> models;
};

struct LookoutCamera {
  explicit LookoutCamera(std::shared_ptr<lc::Camera> camera) : camera_(std::move(camera)) {}
  LookoutCamera(const LookoutCamera&) = delete;
  LookoutCamera& operator=(const LookoutCamera&) = delete;

  ~LookoutCamera() {
    if (started_) camera_->stop();
    camera_->requestCompleted.disconnect(this);
    camera_->disconnected.disconnect(this);
    requests_.clear();
    buffers_.clear();
    if (allocator_ != nullptr) allocator_->free(stream_);
    allocator_.reset();
    configuration_.reset();
    if (acquired_) camera_->release();
  }

  int acquire() {
    const int error = camera_->acquire();
    acquired_ = error == 0;
    return error;
  }

  int configure(const LookoutStreamRequest& request, LookoutStream& granted) {
    auto configuration = camera_->generateConfiguration({lc::StreamRole::Viewfinder});
    if (configuration == nullptr || configuration->empty()) return -EINVAL;
    lc::StreamConfiguration& stream = configuration->at(0);
    const lc::PixelFormat format(request.fourcc);
    stream.pixelFormat = format;
    stream.size = lc::Size(static_cast<unsigned int>(request.width),
                           static_cast<unsigned int>(request.height));
    stream.bufferCount = request.buffers;
#if LOOKOUT_HAS_SENSOR_CONFIG
    if (request.sensor_mode.width > 0) {
      lc::SensorConfiguration sensor;
      sensor.outputSize = lc::Size(static_cast<unsigned int>(request.sensor_mode.width),
                                   static_cast<unsigned int>(request.sensor_mode.height));
      sensor.bitDepth = static_cast<unsigned int>(request.sensor_mode.bits);
      configuration->sensorConfig = sensor;
    }
#endif
    if (configuration->validate() == lc::CameraConfiguration::Invalid) return -EINVAL;
    if (stream.pixelFormat != format) return -EINVAL;
    const int error = camera_->configure(configuration.get());
    if (error != 0) return error;
    configuration_ = std::move(configuration);
    stream_ = stream.stream();

    granted = granted_stream();
    return 0;
  }

  int start(const LookoutStart& start) {
    int error = allocate(start.memory, start.memory_count);
    if (error != 0) return error;
    lc::ControlList controls(camera_->controls());
    for (std::size_t i = 0; i < start.setting_count; ++i) {
      const LookoutSetting& setting = start.settings[i];
      const lc::ControlId* id = find_control(*camera_, setting.name);
      if (id == nullptr) return -ENOENT;
      const lc::ControlValue value = value_of(id->type(), setting);
      if (value.isNone()) return -ENOTSUP;
      controls.set(id->id(), value);
    }
    camera_->requestCompleted.connect(this, &LookoutCamera::on_completed);
    camera_->disconnected.connect(this, &LookoutCamera::on_disconnected);
    error = camera_->start(&controls);
    started_ = error == 0;
    for (std::size_t i = 0; error == 0 && i < requests_.size(); ++i) {
      error = camera_->queueRequest(requests_[i].get());
    }
    return error;
  }

  int next(std::chrono::milliseconds timeout, LookoutFrame& frame) {
    lc::Request* request = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, timeout,
                        [this] { return disconnected_ || cancelled_ || !completed_.empty(); });
      if (disconnected_) return -ENODEV;
      if (cancelled_) return -ECANCELED;
      if (completed_.empty()) return -EAGAIN;
      request = completed_.front();
      completed_.pop_front();
    }
    const lc::FrameBuffer& buffer = *request->buffers().at(stream_);
    const auto stamp = request->metadata().get(lc::controls::SensorTimestamp);
    frame = {};
    frame.handle = request;
    frame.status = static_cast<std::int32_t>(buffer.metadata().status);
    frame.time = stamp ? *stamp : static_cast<std::int64_t>(buffer.metadata().timestamp);
    for (const lc::FrameBuffer::Plane& plane : buffer.planes()) {
      if (frame.plane_count == LOOKOUT_LIBCAMERA_PLANES) break;
      frame.planes[frame.plane_count++] = {plane.fd.get(), plane.offset, plane.length};
    }
    return 0;
  }

  void give_back(const LookoutFrame& frame) {
    auto* request = static_cast<lc::Request*>(frame.handle);
    request->reuse(lc::Request::ReuseBuffers);
    camera_->queueRequest(request);
  }

  lc::Camera& camera() { return *camera_; }

 private:
  LookoutStream granted_stream() const {
    const lc::StreamConfiguration& stream = configuration_->at(0);
    LookoutStream granted{};
    granted.frame_size = stream.frameSize;
    granted.width = static_cast<std::int32_t>(stream.size.width);
    granted.height = static_cast<std::int32_t>(stream.size.height);
    granted.stride = stream.stride;
    if (stream.colorSpace) {  // BT.2020 is nearer to BT.709
      const auto encoding = stream.colorSpace->ycbcrEncoding;
      granted.is_bt709 = encoding == lc::ColorSpace::YcbcrEncoding::Rec709 ||
                         encoding == lc::ColorSpace::YcbcrEncoding::Rec2020;
      granted.range = stream.colorSpace->range == lc::ColorSpace::Range::Full
                          ? LOOKOUT_RANGE_FULL
                          : LOOKOUT_RANGE_LIMITED;
    }
    const auto durations = camera_->controls().find(&lc::controls::FrameDurationLimits);
    if (durations != camera_->controls().end()) {
      granted.min_frame_duration = number_of(durations->second.min());
      granted.max_frame_duration = number_of(durations->second.max());
    }
    const lc::Size active = active_size(*camera_);
    const auto field = camera_->properties().get(lc::properties::ScalerCropMaximum);
    if (field && !active.isNull()) {
      granted.field_width = static_cast<double>(field->width) / active.width;
      granted.field_height = static_cast<double>(field->height) / active.height;
    }
    return granted;
  }

  // Buffers of the caller's memory, each of one plane, or else of the driver's.
  int allocate(const int* memory, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      lc::FrameBuffer::Plane plane;
      plane.fd = lc::SharedFD(memory[i]);  // a duplicate
      plane.offset = 0;
      plane.length = configuration_->at(0).frameSize;
      buffers_.push_back(std::make_unique<lc::FrameBuffer>(std::vector{plane}));
    }
    if (count > 0) return add_requests(buffers_);
    allocator_ = std::make_unique<lc::FrameBufferAllocator>(camera_);
    const int allocated = allocator_->allocate(stream_);
    if (allocated <= 0) return allocated < 0 ? allocated : -ENOMEM;
    return add_requests(allocator_->buffers(stream_));
  }

  int add_requests(const std::vector<std::unique_ptr<lc::FrameBuffer>>& buffers) {
    for (const auto& buffer : buffers) {
      auto request = camera_->createRequest();
      if (request == nullptr) return -ENOMEM;
      const int error = request->addBuffer(stream_, buffer.get());
      if (error != 0) return error;
      requests_.push_back(std::move(request));
    }
    return 0;
  }

  void on_completed(lc::Request* request) {
    {
      const std::lock_guard lock(mutex_);
      if (request->status() == lc::Request::RequestCancelled) {
        cancelled_ = true;
      } else {
        completed_.push_back(request);
      }
    }
    changed_.notify_one();
  }

  void on_disconnected() {
    {
      const std::lock_guard lock(mutex_);
      disconnected_ = true;
    }
    changed_.notify_one();
  }

  std::shared_ptr<lc::Camera> camera_;
  std::unique_ptr<lc::CameraConfiguration> configuration_;
  std::unique_ptr<lc::FrameBufferAllocator> allocator_;
  std::vector<std::unique_ptr<lc::FrameBuffer>> buffers_;  // of a heap
  std::vector<std::unique_ptr<lc::Request>> requests_;
  lc::Stream* stream_ = nullptr;
  bool acquired_ = false;
  bool started_ = false;

  std::mutex mutex_;  // of the following, which libcamera's thread changes
  std::condition_variable changed_;
  std::deque<lc::Request*> completed_;
  bool disconnected_ = false;
  bool cancelled_ = false;
};

namespace {

int start(LookoutManager** result) {
  auto manager = std::make_unique<LookoutManager>();
  const int error = manager->manager.start();
  if (error != 0) return error;
  for (const auto& camera : manager->manager.cameras()) {
    manager->cameras.push_back(camera);
    // A string before libcamera 0.6, a view of one since.
    manager->models.emplace_back(camera->properties().get(lc::properties::Model).value_or(""));
  }
  *result = manager.release();
  return 0;
}

void stop(LookoutManager* manager) {
  manager->cameras.clear();
  manager->manager.stop();
  delete manager;
}

int open(LookoutManager& manager, std::size_t index, LookoutCamera** result) {
  auto camera = std::make_unique<LookoutCamera>(manager.cameras[index]);
  const int error = camera->acquire();
  if (error == 0) *result = camera.release();
  return error;
}

#if LOOKOUT_HAS_SENSOR_CONFIG
// The 10 of SRGGB10_CSI2P, R10 and the like.
int bits_of(const lc::PixelFormat& format) {
  const std::string name = format.toString();
  const std::size_t digit = name.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::atoi(name.c_str() + digit);
}

std::vector<LookoutSensorMode> sensor_modes(lc::Camera& camera) {
  // Pipelines of other boards log an error when they are asked for raw pictures.
  if (camera.id().rfind("/base/", 0) != 0) return {};
  const auto raw = camera.generateConfiguration({lc::StreamRole::Raw});
  if (raw == nullptr || raw->empty()) return {};
  std::vector<LookoutSensorMode> modes;
  const lc::StreamFormats& formats = raw->at(0).formats();
  for (const lc::PixelFormat& format : formats.pixelformats()) {
    for (const lc::Size& mode : formats.sizes(format)) {
      modes.push_back({static_cast<std::int32_t>(mode.width),
                       static_cast<std::int32_t>(mode.height), bits_of(format)});
    }
  }
  return modes;
}
#else
std::vector<LookoutSensorMode> sensor_modes(lc::Camera& /*camera*/) { return {}; }
#endif

int find_range(lc::Camera& camera, const char* name, LookoutControlRange& range) {
  const lc::ControlId* id = find_control(camera, name);
  if (id == nullptr) return -ENOENT;
  const lc::ControlInfo& info = camera.controls().at(id);
  range = {number_of(info.min()), number_of(info.max())};
  return 0;
}

LookoutLibcamera make_table() {
  using Manager = LookoutManager;
  using Camera = LookoutCamera;
  LookoutLibcamera table{};
  table.interface = LOOKOUT_LIBCAMERA_INTERFACE;
  table.version = [] { return lc::CameraManager::version().c_str(); };
  table.log_to = log_to;
  table.start = [](Manager** manager) { return guarded([&] { return start(manager); }); };
  table.stop = stop;
  table.camera_count = [](const Manager* manager) { return manager->cameras.size(); };
  table.camera_id = [](const Manager* m, std::size_t i) { return m->cameras[i]->id().c_str(); };
  table.camera_model = [](const Manager* m, std::size_t i) { return m->models[i].c_str(); };
  table.open = [](Manager* manager, std::size_t index, Camera** camera) {
    return guarded([&] { return open(*manager, index, camera); });
  };
  table.close = [](Camera* camera) { delete camera; };
  table.sensor_modes = [](Camera* camera, LookoutSensorMode* modes, std::size_t max_count,
                          LookoutSensorMode* active) {
    const lc::Size size = active_size(camera->camera());
    *active = {static_cast<std::int32_t>(size.width), static_cast<std::int32_t>(size.height), 0};
    const auto all = sensor_modes(camera->camera());
    std::copy_n(all.begin(), std::min(all.size(), max_count), modes);
    return std::min(all.size(), max_count);
  };
  table.configure = [](Camera* camera, const LookoutStreamRequest* request, LookoutStream* stream) {
    return guarded([&] { return camera->configure(*request, *stream); });
  };
  table.control = [](Camera* camera, const char* name, LookoutControlRange* range) {
    return guarded([&] { return find_range(camera->camera(), name, *range); });
  };
  table.start_camera = [](Camera* camera, const LookoutStart* start) {
    return guarded([&] { return camera->start(*start); });
  };
  table.next_frame = [](Camera* camera, std::int32_t timeout_ms, LookoutFrame* frame) {
    return guarded([&] { return camera->next(std::chrono::milliseconds(timeout_ms), *frame); });
  };
  table.give_back = [](Camera* camera, const LookoutFrame* frame) { camera->give_back(*frame); };
  return table;
}

}  // namespace

const LookoutLibcamera* lookout_libcamera() {
  static const LookoutLibcamera table = make_table();
  return &table;
}
