#include "platform/overlay/overlay_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <opencv2/imgproc.hpp>
#include <string>

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

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The font has no other characters.
std::string as_ascii(const OverlayText& text) {
  std::string result;
  for (auto c = text.begin(); c != text.end() && *c != '\0'; ++c) {
    if (continues_character(*c)) continue;
    result += *c >= ' ' && *c <= '~' ? *c : '?';
  }
  return result;
}

int width_of(const std::string& text) {
  int baseline = 0;
  return cv::getTextSize(text, kFont, kFontScale, 1, &baseline).width;
}

std::string cut(std::string text, int width) {
  if (width_of(text) <= width) return text;
  while (!text.empty() && width_of(text + "..") > width) text.pop_back();
  return text + "..";
}

void put(const std::string& text, const cv::Point& at, const cv::Scalar& color, cv::Mat& canvas) {
  cv::putText(canvas, text, at, kFont, kFontScale, color, 1, cv::LINE_AA);
}

cv::Mat turned(const cv::Mat& picture, const View& view) {
  cv::Mat result = picture;
  if (view.rotation == 90) cv::rotate(picture, result, cv::ROTATE_90_CLOCKWISE);
  if (view.rotation == 180) cv::rotate(picture, result, cv::ROTATE_180);
  if (view.rotation == 270) cv::rotate(picture, result, cv::ROTATE_90_COUNTERCLOCKWISE);
  cv::Mat mirrored = result;
  if (view.hflip && view.vflip) {
    cv::flip(result, mirrored, -1);
  } else if (view.hflip || view.vflip) {
    cv::flip(result, mirrored, view.vflip ? 0 : 1);
  }
  return mirrored;
}

void draw_picture(const cv::Mat& picture, const View& view, cv::Mat& canvas) {
  const cv::Mat upright = turned(picture, view);
  const double scale = std::min(static_cast<double>(kOverlayPictureWidth) / upright.cols,
                                static_cast<double>(kOverlayHeight) / upright.rows);
  const cv::Size size(std::max(1, static_cast<int>(std::lround(upright.cols * scale))),
                      std::max(1, static_cast<int>(std::lround(upright.rows * scale))));
  const cv::Rect place(
      {(kOverlayPictureWidth - size.width) / 2, (kOverlayHeight - size.height) / 2}, size);
  cv::Mat target = canvas(place);
  if (size == upright.size()) {
    upright.copyTo(target);
  } else {
    cv::resize(upright, target, size, 0, 0, scale < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
  }
  if (view.roi == cv::Rect2d(0, 0, 1, 1)) return;
  const cv::Rect part(static_cast<int>(std::lround(view.roi.x * size.width)),
                      static_cast<int>(std::lround(view.roi.y * size.height)),
                      static_cast<int>(std::lround(view.roi.width * size.width)),
                      static_cast<int>(std::lround(view.roi.height * size.height)));
  cv::rectangle(target, part, kOutline);
}

void draw_row(const OverlayRow& row, int top, const cv::Scalar& bar, cv::Mat& canvas) {
  const float score = std::min(1.0F, std::max(0.0F, row.score));
  std::array<char, 16> number{};
  const int tenths = static_cast<int>(std::lround(score * 1000));  // of a percent; no locale
  std::snprintf(number.data(), number.size(), "%d.%d %%", tenths / 10, tenths % 10);
  put(cut(as_ascii(row.label), kPanelWidth - kScoreWidth), {kLeft, top + 14}, kBrightText, canvas);
  put(number.data(), {kLeft + kPanelWidth - width_of(number.data()), top + 14}, kText, canvas);
  const cv::Rect ground(kLeft, top + kBarTop, kPanelWidth, kBarHeight);
  cv::rectangle(canvas, ground, kBarGround, cv::FILLED);
  const int length = static_cast<int>(std::lround(score * kPanelWidth));
  if (length > 0) {
    cv::rectangle(canvas, {ground.x, ground.y, length, kBarHeight}, bar, cv::FILLED);
  }
}

}  // namespace

OverlayText overlay_text(std::string_view text) {
  OverlayText result{};
  std::size_t length = std::min(text.size(), result.size() - 1);
  while (length > 0 && length < text.size() && continues_character(text[length])) --length;
  std::copy_n(text.begin(), length, result.begin());
  return result;
}

void draw_overlay(const cv::Mat& picture, const View& view, const OverlayContent& content,
                  cv::Mat& canvas) {
  canvas.create(kOverlayHeight, kOverlayWidth, CV_8UC3);
  canvas.setTo(kBackground);
  draw_picture(picture, view, canvas);
  const cv::Scalar& line_color = content.alert ? kAlert : kText;
  put(cut(as_ascii(content.title), kPanelWidth), {kLeft, kTitleBaseline}, kBrightText, canvas);
  put(cut(as_ascii(content.rates), kPanelWidth), {kLeft, kTitleBaseline + kLineHeight}, line_color,
      canvas);
  put(cut(as_ascii(content.latency), kPanelWidth), {kLeft, kTitleBaseline + 2 * kLineHeight},
      line_color, canvas);
  const int rows = std::min(content.rows, kOverlayRows);
  for (int i = 0; i < rows; ++i) {
    draw_row(content.row[static_cast<std::size_t>(i)], kFirstRow + i * kRowHeight,
             i == 0 ? kBestBar : kBar, canvas);
  }
}

}  // namespace lookout
