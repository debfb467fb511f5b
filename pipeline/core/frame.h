// A picture on its way through the pipeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/luma_blocks.h"
#include "pipeline/core/raw_picture.h"

namespace lookout {

// CLOCK_MONOTONIC, the clock of V4L2's and libcamera's time stamps.
using Clock = std::chrono::steady_clock;

// A picture as a camera sent it. Pixels are made of it only when somebody wants them: a frame that
// shows what the last one showed needs none, and a model uses far fewer than there are. A source
// overwrites the same one for every frame, and calls begin() first.
struct CameraPicture {
  enum class Kind {
    kNone,  // there is none: the frame has its pixels
    kRaw,   // pixels share U and V: see is_subsampled()
    kJpeg,
  };

  // Writes the picture as CV_8UC3, at `eighths`/8 of its size: 1 to 8 for a JPEG, 8 for others.
  // Returns false when it is damaged. For several threads at a time.
  using Decode = bool (*)(const CameraPicture& picture, int eighths, cv::Mat& bgr);

  // Forgets the picture before, but not its memory.
  void begin(Kind new_kind, Decode new_decode) {
    kind = new_kind;
    decode = new_decode;
    has_reduced = false;
    has_blocks = false;
    has_whole = false;
  }

  // Of kRaw. Its planes lie in `bytes`.
  RawPicture raw() const {
    RawPicture picture = layout;
    set_planes(bytes.data(), picture);
    return picture;
  }

  Kind kind = Kind::kNone;
  Decode decode = nullptr;
  std::vector<unsigned char> bytes;  // one plane after another, or a JPEG
  RawPicture layout;                 // of kRaw, without planes
  // Of kJpeg: the scale that leaves what the model uses, in eighths, and the picture at that scale,
  // CV_8UC3. The source decodes it, but not that of a frame that looks still.
  int eighths = 8;
  cv::Mat reduced;
  bool has_reduced = false;
  // Of each region that is classified, once somebody has measured them: see luma_grid.h.
  std::vector<LumaBlocks> blocks;
  bool has_blocks = false;
  // See whole_picture().
  mutable cv::Mat whole;
  mutable bool has_whole = false;
};

// Owns its pixels. A source overwrites the same Frame for every picture. Unless it decodes
// pictures, it reuses the memory while the size stays the same. So keep no reference into it
// after the frame has been handled.
struct Frame {
  cv::Mat bgr;                 // CV_8UC3, height x width, B G R in memory, without a `picture`
  CameraPicture picture;       // kNone: the source made the pixels
  std::uint64_t sequence = 0;  // counts the frames read from the source, from 0
  Clock::time_point captured;  // when the driver got the frame; of a file: when it was read
  Clock::duration capture_duration{};  // copying, converting, decoding; no waiting
  // When a player shows the frame, counted from the start of the video. Empty: not from a video.
  // Never before that of the frame before.
  std::optional<std::chrono::nanoseconds> media_time;
  Clock::time_point queued;  // when it was handed to inference; set only for traces
  std::string origin;        // the file or test pattern; empty for a camera
};

// When the frame shows its scene: by a video's own clock, otherwise when it was captured.
inline Clock::time_point time_of(const Frame& frame) {
  return frame.media_time ? Clock::time_point(*frame.media_time) : frame.captured;
}

// All pixels of the frame, CV_8UC3. Those of a camera's picture are made at the first call, and
// kept with the frame. A damaged JPEG is one black pixel. By one thread at a time.
const cv::Mat& whole_picture(const Frame& frame);

}  // namespace lookout
