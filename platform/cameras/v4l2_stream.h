// Frames by V4L2's streaming I/O: the driver fills buffers that it shares with us.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"
#include "platform/cameras/camera_mode.h"
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
  // The first call starts the camera. Throws Error(kDeviceLost) when it is gone, cannot be started
  // or fails again and again.
  std::optional<V4l2Buffer> take(std::chrono::milliseconds timeout);
  void give_back(const V4l2Buffer& buffer);

 private:
  // The memory of a buffer.
  class Mapping {
   public:
    Mapping(void* start, std::size_t length) : start_(start), length_(length) {}
    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&&) = delete;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    const unsigned char* data() const { return static_cast<const unsigned char*>(start_); }
    std::size_t size() const { return length_; }

   private:
    void* start_;
    std::size_t length_;
  };

  void set_format(const CameraMode& mode);
  void set_rate(double fps);
  void map_buffers();
  void queue(std::uint32_t index);
  void start();
  void try_out();
  bool wait(std::chrono::milliseconds timeout) const;
  Error refused() const;
  Error lost() const;

  const V4l2Device& device_;
  const std::string path_;
  V4l2Format format_;
  std::vector<Mapping> mappings_;  // by index
  bool started_ = false;
  int failures_ = 0;  // of VIDIOC_DQBUF with EIO, in a row
};

}  // namespace lookout
