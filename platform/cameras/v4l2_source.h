// A camera behind the kernel's V4L2 interface.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/raw_picture.h"
#include "pipeline/core/source.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/color_range.h"
#include "platform/cameras/jpeg_thread.h"
#include "platform/cameras/source_options.h"
#include "platform/cameras/v4l2_device.h"
#include "platform/cameras/v4l2_picture.h"

namespace lookout {

// A filled buffer. Its bytes are valid until it is given back.
struct V4l2Buffer {
  std::uint32_t index = 0;
  const unsigned char* data = nullptr;
  std::size_t size = 0;        // bytes that were filled; some cameras send empty ones at first
  bool damaged = false;        // the driver says so
  std::uint32_t sequence = 0;  // the driver's count of frames, dropped ones included
  Clock::time_point captured;  // the driver's time stamp, see frame_time(); else now
};

// Owns the device's buffers. Used by one thread at a time.
class V4l2Stream {
 public:
  // Asks for `mode`; format() is what the driver grants. `device` has to outlive this object,
  // `path` is for messages. Throws Error(kDeviceLost) when another program has the device or it
  // refuses, UnusableDevice when it is in a pipeline that gives no such pictures.
  V4l2Stream(const V4l2Device& device, std::string path, const CameraMode& mode);
  ~V4l2Stream();
  V4l2Stream(const V4l2Stream&) = delete;
  V4l2Stream& operator=(const V4l2Stream&) = delete;

  const V4l2Format& format() const { return format_; }

  // The oldest filled buffer, which the caller has to give back; nothing when none came in time.
  // Also nothing when none is there and the descriptor `other_fd` becomes readable; -1: there is no
  // other. The first call starts the camera. Throws Error(kDeviceLost) when it is gone, cannot be
  // started or fails again and again.
  std::optional<V4l2Buffer> take(std::chrono::milliseconds timeout, int other_fd = -1);
  void give_back(const V4l2Buffer& buffer);

 private:
  struct Unmap {
    std::size_t length;
    void operator()(unsigned char* start) const;
  };
  using Mapping = std::unique_ptr<unsigned char, Unmap>;

  void set_format(const CameraMode& mode);
  void set_rate(double fps);
  void map_buffers();
  void queue(std::uint32_t index);
  void start();
  void try_out();
  bool wait(std::chrono::milliseconds timeout, int other_fd) const;
  Error refused() const;
  Error lost() const;

  const V4l2Device& device_;
  const std::string path_;
  V4l2Format format_;
  std::vector<Mapping> mappings_;  // by index
  bool started_ = false;
  int failures_ = 0;  // of VIDIOC_DQBUF with EIO, in a row
};

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
  // `now`: the time that JPEGs take is measured with it. Tests pass their own.
  V4l2Source(const std::string& path, const SourceOptions& options, JpegNow now = Clock::now);
  ~V4l2Source() override;
  V4l2Source(const V4l2Source&) = delete;
  V4l2Source& operator=(const V4l2Source&) = delete;

  const SourceInfo& info() const override { return info_; }

  // The first call starts the camera, for which the driver may take longer than `timeout`. Damaged
  // frames are skipped: those that the driver marks, raw ones of fewer bytes than their picture
  // has, and JPEGs that are damaged by JpegTolerance::kFrame, or have a side of more than 8192
  // pixels. A JPEG of another size than was granted is used at its own size, and info().shortfall
  // says so from then on. JPEGs are decoded as JpegReader does it: by this call, or, when that
  // takes too long by DecodeLoad, by a JpegThread. Then a JPEG is returned by a later call, and one
  // that waited when the next came is kDropped. The destructor logs at level debug how many frames
  // the driver dropped, by its own count.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void count_dropped(std::uint32_t sequence);
  void note_size(const cv::Size& size);
  ReadStatus read_raw(Frame& frame, std::chrono::milliseconds timeout);
  bool take_raw(const V4l2Buffer& buffer, Frame& frame);
  ReadStatus read_jpeg(Frame& frame, std::chrono::milliseconds timeout);
  std::optional<V4l2Buffer> next_jpeg(Frame& frame, std::chrono::milliseconds timeout);
  ReadStatus finish_jpeg(Frame& frame);

  std::string path_;
  ModeWish wish_;
  SourceInfo info_;
  V4l2Device device_;
  V4l2Stream stream_;
  std::optional<RawPicture> raw_;          // without planes; nothing: JPEGs
  std::optional<RangeMeter> range_;        // of a camera that declares none
  std::optional<std::uint32_t> sequence_;  // of the last frame
  std::uint64_t dropped_ = 0;              // by the driver, as far as its count shows
  bool other_size_noted_ = false;
  JpegReader reader_;
  DecodeLoad load_;
  const JpegNow now_;
  JpegJob job_;
  std::uint64_t dropped_told_ = 0;    // of thread_'s
  std::optional<JpegThread> thread_;  // once it was needed; last: it uses the above
};

}  // namespace lookout
