// A picture on its way through the pipeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

// CLOCK_MONOTONIC, the clock of V4L2's and libcamera's time stamps.
using Clock = std::chrono::steady_clock;

// Owns its pixels. A source overwrites the same Frame for every picture. Unless it decodes
// pictures, it reuses the memory while the size stays the same. So keep no reference into `bgr`
// after the frame has been handled.
struct Frame {
  cv::Mat bgr;                         // CV_8UC3, height x width, B G R in memory
  std::uint64_t sequence = 0;          // counts the frames read from the source, from 0
  Clock::time_point captured;          // when the driver got the frame; of a file: when it was read
  Clock::duration capture_duration{};  // copying, converting, decoding; no waiting
  // When a player shows the frame, counted from the start of the video. Empty: not from a video.
  // Never before that of the frame before.
  std::optional<std::chrono::nanoseconds> media_time;
  Clock::time_point queued;         // when it was handed to inference; set only for traces
  std::string origin;               // the file or test pattern; empty for a camera
  bool is_jpeg = false;             // the camera sent it as a JPEG
  std::vector<unsigned char> jpeg;  // which is this one, when somebody wants it; else empty
};

}  // namespace lookout
