#include "platform/system/thumbnail.h"

#include <algorithm>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace lookout {
namespace {

constexpr int kThumbnailQuality = 80;

std::string base64(const std::vector<unsigned char>& bytes) {
  namespace iterators = boost::archive::iterators;
  using SixBits = iterators::transform_width<std::vector<unsigned char>::const_iterator, 6, 8>;
  using Letters = iterators::base64_from_binary<SixBits>;
  std::string text(Letters(bytes.begin()), Letters(bytes.end()));
  text.resize((text.size() + 3) / 4 * 4, '=');
  return text;
}

cv::Mat middle_square(const cv::Mat& picture, int side) {
  const int size = std::min(picture.cols, picture.rows);
  const cv::Rect middle((picture.cols - size) / 2, (picture.rows - size) / 2, size, size);
  cv::Mat square;
  cv::resize(picture(middle), square, {side, side}, 0, 0,
             size > side ? cv::INTER_AREA : cv::INTER_LINEAR);
  return square;
}

}  // namespace

std::string thumbnail_uri(const cv::Mat& bgr, int side) {
  try {
    std::vector<unsigned char> jpeg;
    cv::imencode(".jpg", middle_square(bgr, side), jpeg,
                 {cv::IMWRITE_JPEG_QUALITY, kThumbnailQuality});
    return "data:image/jpeg;base64," + base64(jpeg);
  } catch (const cv::Exception&) {
    return {};
  }
}

}  // namespace lookout
