// Finds pictures that look like the one before.
#pragma once

#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>

#include "pipeline/model/preprocessor.h"

namespace lookout {

// The part of a picture, as the source made it, that `view` shows.
cv::Rect viewed_part(const cv::Size& picture, const View& view);

// In a near-copy nothing moved, and the light did not change, since the last picture that was none:
// a slow change adds up until it is seen. Used by one thread at a time.
class NearCopies {
 public:
  // `bgr`: CV_8UC3, the part of the picture that matters. The first picture is no near-copy.
  bool is_near_copy(const cv::Mat& bgr);

 private:
  cv::Mat last_;  // small and gray
};

}  // namespace lookout
