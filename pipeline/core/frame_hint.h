// What the run knows of the frames of a source: how much of them it needs, and whether they show
// anything new, and are wanted.
#pragma once

#include <chrono>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <vector>

#include "pipeline/core/luma_blocks.h"

namespace lookout {

// For several threads at a time.
class FrameHint {
 public:
  virtual ~FrameHint() = default;

  // The smallest picture that a JPEG may be decoded to: of it remain the pixels that the models
  // use, and enough lines that their answers stay the same. It changes with what is classified.
  virtual cv::Size least_size() = 0;

  // Whether the frame will probably be taken for the one that was classified last. `picture`: its
  // pixels, CV_8UC3 B G R or luma alone, CV_8UC1, at a reduced scale; `frame`: their number without
  // that. Writes the sums of luma that it compares over `blocks`, CameraPicture::blocks; none if it
  // compares nothing.
  virtual bool looks_still(const cv::Mat& picture, const cv::Size& frame,
                           std::vector<LumaBlocks>& blocks) = 0;

  // Whether the frame of this time will probably not be wanted, since it comes sooner than the rate
  // allows: see SelectionOptions::max_rate.
  virtual bool looks_unwanted(std::chrono::steady_clock::time_point /*captured*/) { return false; }

  // Whether the frames that were taken have been equal to the last byte for long: once.
  virtual bool take_frozen() { return false; }
};

}  // namespace lookout
