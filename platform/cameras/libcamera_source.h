// A camera behind libcamera: the Raspberry Pi's CSI cameras. Part of liblookout-libcamera.so.
#pragma once

#include <libcamera/libcamera.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/mutex.h"
#include "pipeline/source.h"
#include "platform/cameras/libcamera_buffers.h"
#include "platform/cameras/libcamera_module.h"
#include "platform/cameras/raw_picture.h"
#include "platform/cameras/source_options.h"

namespace lookout {

// libcamera's cameras, in its order. No LibcameraSource may be open: a process can have only one
// camera manager.
std::vector<LibcameraCamera> list_libcamera_cameras();

// Live. The image processor scales the picture to the size that was asked for, or the nearest that
// it has. `captured` is the sensor's time stamp; see sensor_frame_time(). libcamera's threads live
// as long as this object and have all signals blocked. If the camera's driver was removed,
// libcamera 0.0.3 ends the process when this object is destroyed.
class LibcameraSource : public Source {
 public:
  // `camera`: a number, or a model or an id, or a part of one that no other camera has. Throws
  // Error(kNoInput) when there is none, Error(kDeviceLost) when another program has it or it cannot
  // be started.
  LibcameraSource(const std::string& camera, const SourceOptions& options);
  ~LibcameraSource() override;
  LibcameraSource(const LibcameraSource&) = delete;
  LibcameraSource& operator=(const LibcameraSource&) = delete;

  const SourceInfo& info() const override { return info_; }
  // A frame that the driver calls damaged is skipped.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void choose_camera(const std::string& name);
  void configure(const SourceOptions& options);
  bool configure_as(libcamera::CameraConfiguration& configuration, const SourceOptions& options);
  void map_buffers();
  void start(const SourceOptions& options);
  void close();
  void on_completed(libcamera::Request* request);
  void on_disconnected();
  libcamera::Request* wait(std::chrono::milliseconds timeout);
  ReadStatus take(libcamera::Request& request, Frame& frame);
  void give_back(libcamera::Request& request);

  std::string name_;  // for messages
  SourceInfo info_;
  std::unique_ptr<libcamera::CameraManager> manager_;
  std::shared_ptr<libcamera::Camera> camera_;
  std::unique_ptr<libcamera::CameraConfiguration> configuration_;
  std::unique_ptr<libcamera::FrameBufferAllocator> allocator_;
  libcamera::Stream* stream_ = nullptr;
  RawPicture layout_;  // as granted; without planes
  LibcameraBuffers memory_;
  std::vector<std::unique_ptr<libcamera::Request>> requests_;
  bool acquired_ = false;
  bool started_ = false;
  RawConverter converter_;

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<libcamera::Request*> completed_ GUARDED_BY(mutex_);  // by libcamera's thread
  bool disconnected_ GUARDED_BY(mutex_) = false;                  // likewise
};

}  // namespace lookout
