// A camera behind libcamera: the Raspberry Pi's CSI cameras.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/raw_picture.h"
#include "pipeline/core/source.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/color_range.h"
#include "platform/cameras/libcamera_name.h"
#include "platform/cameras/sensor_mode.h"
#include "platform/cameras/source_options.h"
#include "platform/libcamera/libcamera_module.h"

namespace lookout {

// The cameras in the order of order_cameras(). No LibcameraSource may be open: a process can have
// only one camera manager. Throws Error(kNoInput) when libcamera cannot look for them.
std::vector<LibcameraCamera> list_libcamera_cameras(const LookoutLibcamera& module);

// The modes of the cameras' sensors, by the cameras' ids, and which one a run with this wish takes.
// Opens each camera; one that cannot be asked has a `problem`. Throws as above.
std::map<std::string, SensorModes> list_sensor_modes(const LookoutLibcamera& module,
                                                     const ModeWish& wish);

// Memory of libcamera's buffers: taken from the kernel, and mapped for reading. Used by one thread
// at a time.
class LibcameraBuffers {
 public:
  LibcameraBuffers() = default;
  ~LibcameraBuffers();
  LibcameraBuffers(const LibcameraBuffers&) = delete;
  LibcameraBuffers& operator=(const LibcameraBuffers&) = delete;

  // Takes `count` buffers of `size` bytes from the kernel's heap for cameras: memory that the
  // processor reads through its cache, unlike that of most drivers. Returns their descriptors, or
  // nothing where there is no such heap, no right to it, or no room.
  const std::vector<int>& allocate(std::size_t count, std::size_t size);

  // The heap, as "/dev/dma_heap/linux,cma"; empty: the driver allocates.
  const std::string& heap() const { return heap_; }

  // Points the planes of `picture` to the frame's memory, which may be read while a FrameAccess
  // lives. Throws Error(kDeviceLost) when the frame cannot be mapped or is smaller than the
  // picture. `camera` is for messages.
  void map(const std::string& camera, const LookoutFrame& frame, RawPicture& picture);

 private:
  struct Mapping {
    void* memory = nullptr;
    std::size_t size = 0;
  };

  bool allocate_from(const std::string& heap, std::size_t count, std::size_t size);
  void close_all();
  const unsigned char* address(const std::string& camera, const LookoutPlane& plane);

  std::string heap_;
  std::vector<int> allocated_;
  std::map<int, Mapping> mapped_;  // by descriptor
};

using LibcameraManager = std::unique_ptr<LookoutManager, void (*)(LookoutManager*)>;
using LibcameraHandle = std::unique_ptr<LookoutCamera, void (*)(LookoutCamera*)>;

// Live. The image processor scales the picture to the size that was asked for, or the nearest that
// it has, from the mode of choose_sensor_mode(). `captured` is the sensor's time stamp; see
// sensor_frame_time(). libcamera's threads live as long as this object and have all signals
// blocked. If the camera's driver was removed, libcamera ends the process when this object is
// destroyed: 0.0.3 was seen to, 0.4 and 0.7 have the same assertion.
class LibcameraSource : public Source {
 public:
  // `camera`: a number, or a model or an id, or a part of one that no other camera has. Throws
  // Error(kNoInput) when there is none, Error(kDeviceLost) when another program has it or it cannot
  // be started, Error(kUnsupported) as settings_of(). `module` outlives this object.
  LibcameraSource(const LookoutLibcamera& module, const std::string& camera,
                  const SourceOptions& options);

  const SourceInfo& info() const override { return info_; }

  // Frames that come before exposure and white balance have settled are left out without a word, as
  // are damaged ones before the first good one. Later a frame that the driver calls damaged is
  // skipped. Throws Error(kDeviceLost) also when libcamera gives up a frame, as after the sensor's
  // time-out.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void choose_camera(const std::string& name);
  void configure(const SourceOptions& options);
  bool set_layout(RawFormat format);
  bool request(std::uint32_t fourcc, const SensorSize& size, const SensorMode& mode);
  void take_fast_mode(std::uint32_t fourcc, const SensorSize& size,
                      const std::vector<SensorMode>& modes, double framerate);
  void start(const SourceOptions& options);
  ReadStatus take(const LookoutFrame& raw, Frame& frame);

  const LookoutLibcamera& module_;
  std::string name_;  // for messages
  SourceInfo info_;
  LibcameraManager manager_;
  LibcameraBuffers memory_;  // after the camera's end
  LibcameraHandle camera_;
  LookoutStream stream_{};
  SensorMode sensor_mode_;           // width 0: libcamera's choice
  RawPicture layout_;                // as granted; without planes
  std::optional<RangeMeter> range_;  // of a camera that declares none
  bool good_seen_ = false;
};

}  // namespace lookout
