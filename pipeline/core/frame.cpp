#include "pipeline/core/frame.h"

namespace lookout {
namespace {

constexpr int kWhole = 8;  // eighths

}  // namespace

const cv::Mat& whole_picture(const Frame& frame) {
  const CameraPicture& picture = frame.picture;
  if (picture.kind == CameraPicture::Kind::kNone) return frame.bgr;
  if (picture.has_reduced && picture.eighths == kWhole) return picture.reduced;
  if (picture.has_whole) return picture.whole;
  if (!picture.decode(picture, kWhole, picture.whole)) {
    picture.whole = cv::Mat(1, 1, CV_8UC3, cv::Scalar::all(0));
  }
  picture.has_whole = true;
  return picture.whole;
}

}  // namespace lookout
