// A module for libcamera without libcamera: what its cameras are and do stands in `fake_libcamera`.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "platform/libcamera/libcamera_module.h"

namespace lookout {

struct FakeLibcamera {
  struct Camera {
    std::string id;
    std::string model;
  };
  struct Granted {
    double min_frame_duration = 0;  // us; 0: unknown
    double field_width = 0;
    double field_height = 0;
    bool refused = false;
  };

  std::vector<Camera> cameras;
  std::vector<LookoutSensorMode> modes;
  LookoutSensorMode active{};
  std::map<std::pair<int, int>, Granted> granted;  // by the size of the sensor's mode
  std::map<std::string, LookoutControlRange> controls;
  std::uint32_t fourcc = 0;  // that it has
  std::int32_t range = LOOKOUT_RANGE_UNDECLARED;
  int memory = -1;  // descriptor of a frame's pixels
  std::size_t memory_size = 0;
  int open_error = 0;
  // The status of each frame to come; a negative one is an error of next_frame().
  std::deque<int> frames;
  std::string log;  // written by each start of a manager

  // What was asked for.
  std::size_t opened = 0;
  std::vector<LookoutStreamRequest> requests;
  std::map<std::string, std::vector<double>> settings;
  int given_back = 0;
  int managers = 0;  // that live
  int open_cameras = 0;
  void (*log_to)(const char* text, std::size_t size) = nullptr;
};

inline FakeLibcamera fake_libcamera;

// What a manager and an open camera hold: a descriptor and a thread.
class FakeHandle {
 public:
  FakeHandle() : thread_([this] { end_.get_future().wait(); }) {}
  ~FakeHandle() {
    end_.set_value();
    thread_.join();
    ::close(descriptor_);
  }
  FakeHandle(const FakeHandle&) = delete;
  FakeHandle& operator=(const FakeHandle&) = delete;

 private:
  int descriptor_ = ::dup(STDERR_FILENO);
  std::promise<void> end_;
  std::thread thread_;
};

inline int fake_open(LookoutManager* /*manager*/, std::size_t index, LookoutCamera** camera) {
  if (fake_libcamera.open_error != 0) return fake_libcamera.open_error;
  fake_libcamera.opened = index;
  ++fake_libcamera.open_cameras;
  *camera = reinterpret_cast<LookoutCamera*>(new FakeHandle);
  return 0;
}

inline void fake_close(LookoutCamera* camera) {
  --fake_libcamera.open_cameras;
  delete reinterpret_cast<FakeHandle*>(camera);
}

inline int fake_configure(LookoutCamera* /*camera*/, const LookoutStreamRequest* request,
                          LookoutStream* stream) {
  FakeLibcamera& fake = fake_libcamera;
  if (request->fourcc != fake.fourcc) return -EINVAL;
  fake.requests.push_back(*request);
  const auto granted = fake.granted[{request->sensor_mode.width, request->sensor_mode.height}];
  if (granted.refused) return -EINVAL;
  *stream = {};
  stream->width = request->width;
  stream->height = request->height;
  stream->stride = static_cast<std::uint32_t>(request->width * 3);
  stream->frame_size = stream->stride * static_cast<std::uint32_t>(request->height);
  stream->min_frame_duration = granted.min_frame_duration;
  stream->max_frame_duration = granted.min_frame_duration > 0 ? 1e6 : 0;
  stream->range = fake.range;
  stream->field_width = granted.field_width;
  stream->field_height = granted.field_height;
  return 0;
}

inline int fake_start_camera(LookoutCamera* /*camera*/, const LookoutStart* start) {
  for (std::size_t i = 0; i < start->setting_count; ++i) {
    const LookoutSetting& setting = start->settings[i];
    fake_libcamera.settings[setting.name] = {setting.values, setting.values + setting.count};
  }
  return 0;
}

inline int fake_next_frame(LookoutCamera* /*camera*/, std::int32_t /*timeout_ms*/,
                           LookoutFrame* frame) {
  FakeLibcamera& fake = fake_libcamera;
  if (fake.frames.empty()) return -EAGAIN;
  const int status = fake.frames.front();
  fake.frames.pop_front();
  if (status < 0) return status;
  *frame = {};
  frame->status = status;
  frame->planes[0] = {fake.memory, 0, fake.memory_size};
  frame->plane_count = 1;
  return 0;
}

inline LookoutLibcamera fake_libcamera_module() {
  LookoutLibcamera module{};
  module.interface = LOOKOUT_LIBCAMERA_INTERFACE;
  module.version = [] { return "v9.8.7"; };
  module.log_to = [](void (*write)(const char*, std::size_t)) { fake_libcamera.log_to = write; };
  module.start = [](LookoutManager** manager) {
    ++fake_libcamera.managers;
    const std::string& log = fake_libcamera.log;
    if (fake_libcamera.log_to != nullptr) fake_libcamera.log_to(log.data(), log.size());
    *manager = reinterpret_cast<LookoutManager*>(new FakeHandle);
    return 0;
  };
  module.stop = [](LookoutManager* manager) {
    --fake_libcamera.managers;
    delete reinterpret_cast<FakeHandle*>(manager);
  };
  module.camera_count = [](const LookoutManager* /*manager*/) {
    return fake_libcamera.cameras.size();
  };
  module.camera_id = [](const LookoutManager* /*manager*/, std::size_t i) {
    return fake_libcamera.cameras[i].id.c_str();
  };
  module.camera_model = [](const LookoutManager* /*manager*/, std::size_t i) {
    return fake_libcamera.cameras[i].model.c_str();
  };
  module.open = fake_open;
  module.close = fake_close;
  module.sensor_modes = [](LookoutCamera* /*camera*/, LookoutSensorMode* modes,
                           std::size_t /*max_count*/, LookoutSensorMode* active) {
    *active = fake_libcamera.active;
    std::size_t count = 0;
    for (const LookoutSensorMode& mode : fake_libcamera.modes) modes[count++] = mode;
    return count;
  };
  module.configure = fake_configure;
  module.control = [](LookoutCamera* /*camera*/, const char* name, LookoutControlRange* range) {
    const auto found = fake_libcamera.controls.find(name);
    if (found == fake_libcamera.controls.end()) return -ENOENT;
    *range = found->second;
    return 0;
  };
  module.start_camera = fake_start_camera;
  module.next_frame = fake_next_frame;
  module.give_back = [](LookoutCamera* /*camera*/, const LookoutFrame* /*frame*/) {
    ++fake_libcamera.given_back;
  };
  return module;
}

}  // namespace lookout
