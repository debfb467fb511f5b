// A camera behind the kernel's V4L2 interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/core/source.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/color_range.h"
#include "platform/cameras/raw_picture.h"
#include "platform/cameras/source_options.h"
#include "platform/cameras/v4l2_device.h"
#include "platform/cameras/v4l2_stream.h"

namespace lookout {

// The driver's name of the camera `path`. Throws Error as the constructor of V4l2Source does, and
// for NodeKind::kPipeline.
std::string probe_camera(const std::string& path);

// Live. `captured` is the driver's time stamp; see frame_time().
class V4l2Source : public Source {
 public:
  // `path`: the device, or a link to it. choose_mode() picks one of the modes that the driver
  // offers; the choice is logged at level debug. Drivers grant the nearest mode that they have,
  // which info() describes. Throws Error(kNoInput) when it does not exist, UnusableDevice when it
  // is not a camera that can be read, Error(kPermission), Error(kDeviceLost) when another program
  // has it.
  V4l2Source(const std::string& path, const SourceOptions& options);
  ~V4l2Source() override;
  V4l2Source(const V4l2Source&) = delete;
  V4l2Source& operator=(const V4l2Source&) = delete;

  const SourceInfo& info() const override { return info_; }

  // The first call starts the camera, for which the driver may take longer than `timeout`. Damaged
  // frames are skipped: those that the driver marks, raw ones of fewer bytes than their picture
  // has, and JPEGs that are damaged by JpegTolerance::kFrame, or have a side of more than 8192
  // pixels. A JPEG of another size than was granted is used at its own size, and info().shortfall
  // says so from then on. Fills `frame.jpeg` while options.jpegs_wanted. The destructor logs at
  // level debug how many frames the driver dropped, by its own count.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void count_dropped(std::uint32_t sequence);
  void note_size(const cv::Size& size);
  bool convert(const V4l2Buffer& buffer, cv::Mat& bgr);
  void keep_jpeg(const V4l2Buffer& buffer, Frame& frame) const;

  std::string path_;
  ModeWish wish_;
  const std::atomic<bool>* jpegs_wanted_;
  SourceInfo info_;
  V4l2Device device_;
  V4l2Stream stream_;
  std::optional<RawPicture> raw_;  // without planes; nothing: JPEGs
  RawConverter converter_;
  std::optional<RangeMeter> range_;        // of a camera that declares none
  std::optional<std::uint32_t> sequence_;  // of the last frame
  std::uint64_t dropped_ = 0;              // by the driver, as far as its count shows
  bool other_size_noted_ = false;
};

}  // namespace lookout
