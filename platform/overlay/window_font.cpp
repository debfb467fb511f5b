#include "platform/overlay/window_font.h"

#include <algorithm>
#include <opencv2/core/version.hpp>
#include <opencv2/highgui.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace lookout {
namespace {

constexpr int kHeight = 22;      // pixels
constexpr int kMaxWidth = 1200;  // of a text that is cut later
constexpr int kPoints = 10;      // at 96 dots an inch
constexpr std::size_t kMaxPictures = 256;
const char* const kNoCharacter = "\xf4\x8f\xbf\xbd";  // U+10FFFD, for private use: no font has it
const char* const kEllipsis = "\xe2\x80\xa6";

// OpenCV passes the weight on to QFont: 0 to 99 in Qt 5, 1 to 1000 in Qt 6, which Debian's has
// since OpenCV 4.10.
constexpr int kNormal = CV_VERSION_MAJOR * 100 + CV_VERSION_MINOR >= 410 ? 400 : 50;

std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continues || characters.empty()) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

// To the right of the last column that is not black.
int used_width(const cv::Mat& picture) {
  cv::Mat columns;
  cv::reduce(picture, columns, 0, cv::REDUCE_MAX);
  int width = columns.cols;
  while (width > 1 && columns.at<unsigned char>(0, width - 1) == 0) --width;
  return width;
}

}  // namespace

bool WindowFont::is_there() {
  try {
    WindowFont().drawn("");
    return true;
  } catch (const cv::Exception&) {
    return false;
  }
}

cv::Mat WindowFont::picture(const std::string& text, int width) {
  const auto key = std::make_pair(text, width);
  if (const auto found = pictures_.find(key); found != pictures_.end()) return found->second;
  if (pictures_.size() >= kMaxPictures) pictures_.clear();
  for (const std::string& character : characters_of(text)) look_for(character);
  return pictures_[key] = cut(text, width);
}

cv::Mat WindowFont::cut(const std::string& text, int width) const {
  cv::Mat whole = drawn(text);
  std::vector<std::string> left = characters_of(text);
  while (used_width(whole) > width && !left.empty()) {
    left.pop_back();
    std::string shorter;
    for (const std::string& character : left) shorter += character;
    whole = drawn(shorter + kEllipsis);
  }
  return whole.colRange(0, std::min(width, used_width(whole)));
}

void WindowFont::look_for(const std::string& character) {
  if (!missing_.empty() || character.size() == 1 || !seen_.insert(character).second) return;
  const bool is_box = cv::norm(drawn(character), drawn(kNoCharacter), cv::NORM_INF) == 0;
  if (is_box) missing_ = character;
}

cv::Mat WindowFont::drawn(const std::string& text) const {
  static const std::string font = "Sans Serif";
  cv::Mat bgr(kHeight, kMaxWidth, CV_8UC3, cv::Scalar::all(0));
  cv::addText(bgr, text, {0, kBaseline}, font, kPoints, cv::Scalar(255, 255, 255), kNormal);
  cv::Mat gray;
  cv::cvtColor(bgr, gray, cv::COLOR_BGR2GRAY);
  return gray;
}

}  // namespace lookout
