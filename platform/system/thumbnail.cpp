#include "platform/system/thumbnail.h"

#include <openssl/evp.h>

#include <algorithm>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace lookout {
namespace {

constexpr int kQuality = 80;

std::string base64(const std::vector<unsigned char>& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and a zero byte
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
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
    cv::imencode(".jpg", middle_square(bgr, side), jpeg, {cv::IMWRITE_JPEG_QUALITY, kQuality});
    return "data:image/jpeg;base64," + base64(jpeg);
  } catch (const cv::Exception&) {
    return {};
  }
}

}  // namespace lookout
