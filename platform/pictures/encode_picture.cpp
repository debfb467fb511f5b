#include "platform/pictures/encode_picture.h"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <vector>

namespace lookout {

cv::Mat turned(const cv::Mat& bgr, const View& view) {
  cv::Mat picture = bgr;
  if (view.rotation == 90) cv::rotate(bgr, picture, cv::ROTATE_90_CLOCKWISE);
  if (view.rotation == 180) cv::rotate(bgr, picture, cv::ROTATE_180);
  if (view.rotation == 270) cv::rotate(bgr, picture, cv::ROTATE_90_COUNTERCLOCKWISE);
  if (view.hflip) cv::flip(picture, picture, 1);
  if (view.vflip) cv::flip(picture, picture, 0);
  return picture;
}

std::string encode_jpeg(const cv::Mat& bgr, int quality) {
  std::vector<unsigned char> jpeg;
  cv::imencode(".jpg", bgr, jpeg, {cv::IMWRITE_JPEG_QUALITY, quality});
  return {jpeg.begin(), jpeg.end()};
}

}  // namespace lookout
