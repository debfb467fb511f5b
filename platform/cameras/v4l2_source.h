// A camera behind the kernel's V4L2 interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/source.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/raw_picture.h"
#include "platform/cameras/source_options.h"
#include "platform/cameras/v4l2_device.h"
#include "platform/cameras/v4l2_stream.h"

namespace lookout {

// What the driver calls the camera `path`. Throws Error unless it is a camera that this user may
// use and that nobody else uses, as the constructor of V4l2Source does, and for
// NodeKind::kPipeline.
std::string probe_camera(const std::string& path);

// Live. `captured` is the driver's own time stamp where that is of Clock's time.
class V4l2Source : public Source {
 public:
  // `path`: the device, or a link to it. What `options` leave open is chosen among what the driver
  // tells that the camera can (see choose_mode), which is said at log level debug; drivers take the
  // nearest they have, and info() tells what that is. Throws Error(kNoInput) when it does not
  // exist, UnusableDevice when it is not a camera that can be read, Error(kPermission),
  // Error(kDeviceLost) when another program has it.
  V4l2Source(const std::string& path, const SourceOptions& options);
  ~V4l2Source() override;
  V4l2Source(const V4l2Source&) = delete;
  V4l2Source& operator=(const V4l2Source&) = delete;

  const SourceInfo& info() const override { return info_; }

  // The camera starts with the first call, for which its driver may take longer than `timeout`. A
  // frame that was damaged on its way is skipped: one that the driver calls so, one that is shorter
  // than its picture, a JPEG that is not whole or not of the size that info() tells, see
  // decode_jpeg(). How many frames were lost before they came here, by the driver's count, is said
  // at the end at log level debug.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void count_lost(std::uint32_t sequence);
  bool convert(const V4l2Buffer& buffer, cv::Mat& bgr);

  std::string path_;
  SourceInfo info_;
  V4l2Device device_;
  V4l2Stream stream_;
  std::optional<RawPicture> raw_;  // without planes; nothing: JPEGs
  RawConverter converter_;
  std::optional<std::uint32_t> sequence_;  // of the last frame
  std::uint64_t lost_ = 0;
};

}  // namespace lookout
