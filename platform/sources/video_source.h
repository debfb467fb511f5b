// Frames of a video file.
#pragma once

#include <cstdint>
#include <opencv2/videoio.hpp>
#include <string>

#include "pipeline/source.h"

namespace lookout {

// Not live: every frame, in order, at the reader's speed. `origin` is the path as given.
//
// OpenCV converts every video as BT.601 of the limited range and does not report the file's color
// space: colors of a BT.709 file are off by up to 23 levels of 255 (saturated ones; skin 6), those
// of the full range by up to 13.
class VideoSource : public Source {
 public:
  // Throws Error(kNoInput) when the file is not a video that can be decoded here.
  explicit VideoSource(const std::string& path);

  const SourceInfo& info() const override { return info_; }

  // Does not wait. Throws Error(kNoInput) in place of kEnd when clearly fewer frames came than the
  // file announces, and the last one's time is clearly before the end that it announces.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void check_complete() const;

  std::string path_;
  SourceInfo info_;
  cv::VideoCapture capture_;
  std::uint64_t frames_ = 0;  // read so far
  double announced_ = 0;      // frames, as the file says; 0 or less: it does not
  double fps_ = 0;            // likewise
  double position_ms_ = 0;    // of the latest frame that has a time
};

}  // namespace lookout
