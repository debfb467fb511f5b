#include "pipeline/core/frame.h"

namespace lookout {

const cv::Mat& whole_picture(const Frame& frame) {
  const CameraPicture& picture = frame.picture;
  if (picture.kind == CameraPicture::Kind::kNone) return frame.bgr;
  if (!picture.has_whole && !picture.decode(picture, 8, picture.whole)) {
    picture.whole = cv::Mat::zeros(1, 1, CV_8UC3);
  }
  picture.has_whole = true;
  return picture.whole;
}

}  // namespace lookout
