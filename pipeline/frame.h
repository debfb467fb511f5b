// A picture on its way through the pipeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <string>

namespace lookout {

// CLOCK_MONOTONIC, the clock of V4L2's and libcamera's time stamps.
using Clock = std::chrono::steady_clock;

// Owns its pixels. A source overwrites the same Frame again and again and, unless it decodes
// pictures, keeps the allocation as long as the size stays, so nobody may keep a reference into
// `bgr` beyond the frame's turn.
struct Frame {
  cv::Mat bgr;                 // CV_8UC3, height x width, B G R in memory
  std::uint64_t sequence = 0;  // counts the frames read from the source, from 0
  Clock::time_point captured;  // when the driver had the frame (for files: when it was read)
  Clock::duration capture_duration{};  // copying, converting or decoding it, without waiting for it
  Clock::time_point queued;            // when it was handed over for classification; if traced
  std::string origin;                  // the file or test pattern it shows; empty for a camera
};

}  // namespace lookout
