// A camera behind the kernel's V4L2 interface.
#pragma once

#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

#include "pipeline/source.h"
#include "platform/source_options.h"

namespace lookout {

// What the driver calls the camera `path`. Throws Error unless it is a camera that this user may
// use and that nobody else uses, as the constructor of V4l2Source does.
std::string probe_camera(const std::string& path);

// Live. `captured` is the driver's own time stamp where that is of Clock's time.
class V4l2Source : public Source {
 public:
  // `path`: the device, or a link to it. What `options` leave open is 640x480 at 30 fps; drivers
  // take the nearest they have, which info() tells and, where it is not what `options` ask for, a
  // warning. Throws Error(kNoInput) when it does not exist or is not a camera, Error(kPermission),
  // Error(kDeviceLost) when another program has it.
  V4l2Source(const std::string& path, const SourceOptions& options);

  const SourceInfo& info() const override { return info_; }

  // The camera starts with the first call, which may wait for a second whatever `timeout` is. A
  // frame that was damaged on its way is skipped; the first one is said in the log.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  // What the driver granted.
  struct Granted {
    int width = 0;   // pixels
    int height = 0;  // pixels
    double fps = 0;  // 0: unknown
    int fourcc = 0;
  };

  cv::VideoCapture& capture() { return captures_.front(); }
  Granted granted();
  void configure(const SourceOptions& options);
  void prefer_mjpeg(const SourceOptions& options);
  bool wait(std::chrono::milliseconds timeout);
  bool retrieve(cv::Mat& bgr);
  ReadStatus skip();

  std::string path_;
  SourceInfo info_;
  std::vector<cv::VideoCapture> captures_;  // one: waitAny() wants a vector
  std::vector<int> ready_;                  // waitAny()'s result
  cv::Mat jpeg_;                            // the undecoded frame of an MJPEG camera
  bool mjpeg_ = false;
  bool started_ = false;  // waitAny() was called
  bool damage_reported_ = false;
};

}  // namespace lookout
