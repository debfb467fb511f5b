// A camera behind the kernel's V4L2 interface.
#pragma once

#include <cstdint>
#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

#include "pipeline/source.h"
#include "platform/camera_mode.h"
#include "platform/source_options.h"

namespace lookout {

// What the driver calls the camera `path`. Throws Error unless it is a camera that this user may
// use and that nobody else uses, as the constructor of V4l2Source does.
std::string probe_camera(const std::string& path);

// What V4l2Source looks for in a camera.
ModeWish wish_of(const SourceOptions& options);

// Live. `captured` is the driver's own time stamp where that is of Clock's time.
class V4l2Source : public Source {
 public:
  // `path`: the device, or a link to it. What `options` leave open is chosen among what the driver
  // tells that the camera can (see choose_mode), which is said at log level debug; drivers take the
  // nearest they have, and info() tells what that is. Throws Error(kNoInput) when it does not exist
  // or is not a camera, Error(kPermission), Error(kDeviceLost) when another program has it.
  V4l2Source(const std::string& path, const SourceOptions& options);

  const SourceInfo& info() const override { return info_; }

  // The camera starts with the first call, which may wait for a second whatever `timeout` is. A
  // frame that was damaged on its way is skipped, as far as that can be seen: a JPEG that is not
  // whole, see decode_jpeg(). The first one is said in the log.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  // What the driver granted.
  struct Granted {
    int width = 0;   // pixels
    int height = 0;  // pixels
    double fps = 0;  // 0: unknown
    std::uint32_t fourcc = 0;
  };

  cv::VideoCapture& capture() { return captures_.front(); }
  Granted granted();
  static std::string shortfall(const ModeWish& wish, const Granted& result);
  void configure(const CameraMode& mode);
  bool wait(std::chrono::milliseconds timeout);
  bool retrieve(cv::Mat& bgr);
  ReadStatus skip();

  std::string path_;
  SourceInfo info_;
  std::vector<cv::VideoCapture> captures_;  // one: waitAny() wants a vector
  std::vector<int> ready_;                  // waitAny()'s result
  cv::Size size_;                           // granted
  cv::Mat jpeg_;                            // the undecoded frame of an MJPEG camera
  bool mjpeg_ = false;
  bool started_ = false;  // waitAny() was called
  bool damage_reported_ = false;
};

}  // namespace lookout
