#include "platform/overlay/overlay_layout.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>
#include <utility>

namespace lookout {
namespace {

const cv::Scalar kBackground(32, 28, 26);
const cv::Scalar kBrightText(245, 245, 245);
const cv::Scalar kText(190, 190, 190);
const cv::Scalar kAlert(70, 90, 255);
const cv::Scalar kBestBar(90, 200, 90);
const cv::Scalar kBar(150, 130, 90);
const cv::Scalar kBarGround(58, 52, 48);
const cv::Scalar kOutline(0, 220, 255);

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr double kFontScale = 0.45;
constexpr int kMargin = 12;
constexpr int kLeft = kOverlayPictureWidth + kMargin;
constexpr int kPanelWidth = kOverlayWidth - kOverlayPictureWidth - 2 * kMargin;
constexpr int kTitleBaseline = 26;
constexpr int kLineHeight = 20;
constexpr int kFirstRow = 84;
constexpr int kRowHeight = 39;
constexpr int kBarTop = 20;  // in a row
constexpr int kBarHeight = 9;
constexpr int kScoreWidth = 64;
constexpr int kNameMargin = 4;     // around the name of a box
constexpr int kNameBaseline = 15;  // in its line

int rounded(double value) { return static_cast<int>(std::lround(value)); }

int width_of(const std::string& text) {
  int baseline = 0;
  return cv::getTextSize(text, kFont, kFontScale, 1, &baseline).width;
}

void put(const std::string& text, const cv::Point& at, const cv::Scalar& color, cv::Mat& canvas) {
  cv::putText(canvas, text, at, kFont, kFontScale, color, 1, cv::LINE_AA);
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Of UTF-8: a question mark for each character that is not ASCII.
std::string with_question_marks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool continues_character = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (!continues_character) result += c >= ' ' && c <= '~' ? c : '?';
  }
  return result;
}

// Colors the canvas where `text` is white.
void blend(const cv::Mat& text, const cv::Point& at, const cv::Scalar& color, cv::Mat& canvas) {
  const cv::Rect place = cv::Rect(at, text.size()) & cv::Rect({0, 0}, canvas.size());
  for (int y = place.y; y < place.br().y; ++y) {
    for (int x = place.x; x < place.br().x; ++x) {
      const double share = text.at<unsigned char>(y - at.y, x - at.x) / 255.0;
      auto& pixel = canvas.at<cv::Vec3b>(y, x);
      for (int i = 0; i < 3; ++i) {
        pixel[i] = cv::saturate_cast<unsigned char>(pixel[i] + share * (color[i] - pixel[i]));
      }
    }
  }
}

// A text in one line that is ready to be drawn.
struct Line {
  std::string ascii{};
  cv::Mat picture{};  // empty: `ascii` is drawn
  int width = 0;
};

// Cut to `width`.
Line line_of(const OverlayText& text, int width, OverlayFont* font) {
  std::string shown = text.data();
  if (font != nullptr && !is_ascii(shown)) {
    cv::Mat picture = font->picture(shown, width);
    const int columns = picture.cols;
    return {{}, std::move(picture), columns};
  }
  shown = with_question_marks(shown);
  if (width_of(shown) > width) {
    while (!shown.empty() && width_of(shown + "..") > width) shown.pop_back();
    shown += "..";
  }
  const int columns = width_of(shown);
  return {std::move(shown), {}, columns};
}

// `at`: the left end of the baseline.
void put(const Line& line, const cv::Point& at, const cv::Scalar& color, cv::Mat& canvas) {
  if (line.picture.empty()) return put(line.ascii, at, color, canvas);
  blend(line.picture, {at.x, at.y - OverlayFont::kBaseline}, color, canvas);
}

// At the panel's left edge, cut to `width`.
void put(const OverlayText& text, int baseline, int width, const cv::Scalar& color, cv::Mat& canvas,
         OverlayFont* font) {
  put(line_of(text, width, font), {kLeft, baseline}, color, canvas);
}

cv::Mat upright_copy(const cv::Mat& picture, const View& view) {
  cv::Mat result = picture.clone();
  // OpenCV's codes are the quarter turns, less one.
  if (view.rotation != 0) cv::rotate(picture, result, view.rotation / 90 - 1);
  if (view.hflip) cv::flip(result, result, 1);
  if (view.vflip) cv::flip(result, result, 0);
  return result;
}

void frame_part(const cv::Rect2d& roi, cv::Mat& target) {
  const cv::Rect part(rounded(roi.x * target.cols), rounded(roi.y * target.rows),
                      rounded(roi.width * target.cols), rounded(roi.height * target.rows));
  cv::rectangle(target, part, kOutline);
}

// Its name stands inside, at the top; `above`: under so many other names.
void draw_box(const OverlayBox& box, int above, cv::Mat& target, OverlayFont* font) {
  frame_part(box.roi, target);
  const Line line = line_of(box.text, target.cols - 2 * kNameMargin, font);
  cv::Rect ground(rounded(box.roi.x * target.cols),
                  rounded(box.roi.y * target.rows) + above * kLineHeight,
                  line.width + 2 * kNameMargin, kLineHeight);
  ground.x = std::clamp(ground.x, 0, std::max(0, target.cols - ground.width));
  ground.y = std::clamp(ground.y, 0, std::max(0, target.rows - ground.height));
  cv::rectangle(target, ground, kBackground, cv::FILLED);
  put(line, {ground.x + kNameMargin, ground.y + kNameBaseline}, kBrightText, target);
}

void draw_boxes(const OverlayContent& content, cv::Mat& target, OverlayFont* font) {
  for (std::size_t i = 0; i < content.boxes; ++i) {
    const auto* const begin = content.box.data();
    const auto above = std::count_if(
        begin, begin + i, [&](const OverlayBox& other) { return other.roi == content.box[i].roi; });
    draw_box(content.box[i], static_cast<int>(above), target, font);
  }
}

void draw_picture(const cv::Mat& picture, const View& view, const OverlayContent& content,
                  cv::Mat& canvas, OverlayFont* font) {
  const cv::Mat upright = upright_copy(picture, view);
  const double scale = std::min(static_cast<double>(kOverlayPictureWidth) / upright.cols,
                                static_cast<double>(kOverlayHeight) / upright.rows);
  const cv::Size size(std::max(1, rounded(upright.cols * scale)),
                      std::max(1, rounded(upright.rows * scale)));
  const cv::Point place((kOverlayPictureWidth - size.width) / 2,
                        (kOverlayHeight - size.height) / 2);
  cv::Mat target = canvas(cv::Rect(place, size));
  cv::resize(upright, target, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
  if (content.boxes > 0) {
    draw_boxes(content, target, font);
  } else if (view.roi != cv::Rect2d(0, 0, 1, 1)) {
    frame_part(view.roi, target);
  }
}

void draw_row(const OverlayRow& row, int top, const cv::Scalar& color, cv::Mat& canvas,
              OverlayFont* font) {
  const float score = std::clamp(row.score, 0.0F, 1.0F);
  const int tenths = rounded(score * 1000.0);  // of a percent; no locale changes integers
  const std::string number = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
  put(row.label, top + 14, kPanelWidth - kScoreWidth, kBrightText, canvas, font);
  put(number, {kLeft + kPanelWidth - width_of(number), top + 14}, kText, canvas);
  cv::Rect bar(kLeft, top + kBarTop, kPanelWidth, kBarHeight);
  cv::rectangle(canvas, bar, kBarGround, cv::FILLED);
  bar.width = rounded(score * static_cast<double>(kPanelWidth));
  if (bar.width > 0) cv::rectangle(canvas, bar, color, cv::FILLED);
}

}  // namespace

void draw_overlay(const cv::Mat& picture, const View& view, const OverlayContent& content,
                  cv::Mat& canvas, OverlayFont* font) {
  canvas.create(kOverlayHeight, kOverlayWidth, CV_8UC3);
  canvas.setTo(kBackground);
  draw_picture(picture, view, content, canvas, font);
  const cv::Scalar& color = content.alert ? kAlert : kText;
  put(content.title, kTitleBaseline, kPanelWidth, kBrightText, canvas, font);
  put(content.rates, kTitleBaseline + kLineHeight, kPanelWidth, color, canvas, font);
  put(content.latency, kTitleBaseline + 2 * kLineHeight, kPanelWidth, color, canvas, font);
  int top = kFirstRow;
  for (std::size_t i = 0; i < content.rows; ++i, top += kRowHeight) {
    const bool is_best = i == 0 && content.boxes == 0;
    draw_row(content.row[i], top, is_best ? kBestBar : kBar, canvas, font);
  }
}

}  // namespace lookout
