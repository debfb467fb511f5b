#include "platform/pictures/near_copies.h"

#include <opencv2/imgproc.hpp>

namespace lookout {
namespace {

constexpr int kSmall = 64;         // pixels a side
constexpr double kSameLight = 1;   // mean difference, levels of 255
constexpr double kSameThings = 6;  // largest difference

}  // namespace

cv::Rect viewed_part(const cv::Size& picture, const View& view) {
  InputSpec whole;
  whole.resize = ResizeMode::kStretch;
  return classified_region(whole, view, picture);
}

bool NearCopies::is_near_copy(const cv::Mat& bgr) {
  cv::Mat small;
  cv::resize(bgr, small, {kSmall, kSmall}, 0, 0, cv::INTER_AREA);
  cv::cvtColor(small, small, cv::COLOR_BGR2GRAY);
  if (!last_.empty()) {
    cv::Mat difference;
    cv::absdiff(small, last_, difference);
    double largest = 0;
    cv::minMaxLoc(difference, nullptr, &largest);
    if (largest <= kSameThings && cv::mean(difference)[0] <= kSameLight) return true;
  }
  last_ = small;
  return false;
}

}  // namespace lookout
