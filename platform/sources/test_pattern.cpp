#include "platform/sources/test_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <opencv2/core/types.hpp>
#include <random>

namespace lookout {
namespace {

struct Color {
  std::uint8_t blue;
  std::uint8_t green;
  std::uint8_t red;
};

constexpr int kBars = 8;
constexpr int kCheckerCell = 16;  // pixels, whatever the picture's size

constexpr Color kBlack{0, 0, 0};
constexpr Color kWhite{255, 255, 255};
constexpr Color kRed{0, 0, 255};
constexpr Color kGreen{0, 255, 0};
constexpr Color kBlue{255, 0, 0};
constexpr Color kGray{127, 127, 127};

// The order of the EBU and SMPTE bars, from the brightest to the darkest.
Color bar_color(int index, std::uint8_t level) {
  const auto value = [=](int bit) { return (index & bit) == 0 ? level : std::uint8_t{0}; };
  return {value(1), value(4), value(2)};
}

Color gray(int level) {
  const auto byte = static_cast<std::uint8_t>(level);
  return {byte, byte, byte};
}

int fine_cell(const cv::Size& size) { return std::max(2, std::min(size.width, size.height) / 56); }

template <typename ColorAt>
void fill(cv::Mat& bgr, ColorAt color_at) {
  for (int y = 0; y < bgr.rows; ++y) {
    auto* row = bgr.ptr<Color>(y);
    for (int x = 0; x < bgr.cols; ++x) row[x] = color_at(x, y);
  }
}

void draw_color_bars(cv::Mat& bgr) {
  constexpr std::uint8_t kLevel = 191;  // 75 % bars
  fill(bgr, [w = bgr.cols](int x, int) { return bar_color(x * kBars / w, kLevel); });
}

void draw_horizontal_color_bars(cv::Mat& bgr) {
  fill(bgr, [h = bgr.rows](int, int y) { return bar_color(y * kBars / h, 255); });
}

void draw_color_squares(cv::Mat& bgr) {
  fill(bgr, [w = bgr.cols, h = bgr.rows](int x, int y) {
    return bar_color((y * kBars / h + x * kBars / w) % kBars, 255);
  });
}

template <const Color& color>
void draw_solid(cv::Mat& bgr) {
  bgr.setTo(cv::Scalar(color.blue, color.green, color.red));
}

void fill_checkers(cv::Mat& bgr, int cell, const Color& odd, const Color& even) {
  fill(bgr, [&](int x, int y) { return ((x / cell + y / cell) & 1) != 0 ? odd : even; });
}

void draw_checkers(cv::Mat& bgr) { fill_checkers(bgr, kCheckerCell, kBlack, kWhite); }

void draw_color_checkers(cv::Mat& bgr) { fill_checkers(bgr, fine_cell(bgr.size()), kRed, kBlue); }

template <bool horizontal>
void draw_lines(cv::Mat& bgr) {
  const int cell = fine_cell(bgr.size());
  fill(bgr,
       [=](int x, int y) { return (((horizontal ? y : x) / cell) & 1) != 0 ? kWhite : kBlack; });
}

void draw_cross(cv::Mat& bgr) {
  const int half = std::max(2, std::min(bgr.cols, bgr.rows) / 48);
  const auto in_stroke = [half](int position, int size) {
    return position >= size / 2 - half && position < size / 2 + half;
  };
  fill(bgr, [&](int x, int y) {
    return in_stroke(x, bgr.cols) || in_stroke(y, bgr.rows) ? kWhite : kBlack;
  });
}

void draw_ramp(cv::Mat& bgr) {
  fill(bgr, [w = bgr.cols](int x, int) { return gray(x * 256 / w); });
}

void draw_noise(cv::Mat& bgr) {
  std::mt19937 random;  // the default seed: the same noise every time
  const int grain = std::max(1, std::min(bgr.cols, bgr.rows) / 240);
  cv::Mat_<std::uint8_t> grains(bgr.rows / grain + 1, bgr.cols / grain + 1);
  for (std::uint8_t& level : grains) level = static_cast<std::uint8_t>(random() >> 24U);
  fill(bgr, [&](int x, int y) { return gray(grains(y / grain, x / grain)); });
}

}  // namespace

std::optional<Pattern> find_pattern(std::string_view name) {
  const auto* const found = std::find(kPatternNames.begin(), kPatternNames.end(), name);
  if (found == kPatternNames.end()) return std::nullopt;
  return static_cast<Pattern>(found - kPatternNames.begin());
}

std::string_view to_text(Pattern pattern) {
  return kPatternNames.at(static_cast<std::size_t>(pattern));
}

void draw_pattern(Pattern pattern, cv::Mat& bgr) {
  using Draw = void (*)(cv::Mat&);
  static constexpr std::array<Draw, kPatternNames.size()> kDraw{
      draw_color_bars,     draw_horizontal_color_bars,
      draw_color_squares,  draw_solid<kBlack>,
      draw_solid<kWhite>,  draw_solid<kRed>,
      draw_solid<kGreen>,  draw_solid<kBlue>,
      draw_solid<kGray>,   draw_checkers,
      draw_color_checkers, draw_lines<true>,
      draw_lines<false>,   draw_cross,
      draw_ramp,           draw_noise,
  };
  kDraw.at(static_cast<std::size_t>(pattern))(bgr);
}

void copy_shifted(const cv::Mat& picture, int dx, int dy, cv::Mat& out) {
  const auto wrap = [](int value, int size) { return (value % size + size) % size; };
  const std::size_t row_bytes = static_cast<std::size_t>(picture.cols) * picture.elemSize();
  const std::size_t wrapped = static_cast<std::size_t>(wrap(dx, picture.cols)) * picture.elemSize();
  const int first_row = wrap(dy, picture.rows);
  for (int y = 0; y < picture.rows; ++y) {
    const std::uint8_t* from = picture.ptr(y);
    std::uint8_t* to = out.ptr((y + first_row) % picture.rows);
    std::memcpy(to + wrapped, from, row_bytes - wrapped);
    std::memcpy(to, from + row_bytes - wrapped, wrapped);
  }
}

void draw_marker(const cv::Rect& area, cv::Mat& bgr) {
  for (int y = area.y; y < area.y + area.height; ++y) {
    std::uint8_t* begin = bgr.ptr(y, area.x);
    std::uint8_t* end = begin + static_cast<std::size_t>(area.width) * bgr.elemSize();
    std::transform(begin, end, begin, [](std::uint8_t byte) { return byte ^ 0x80U; });
  }
}

}  // namespace lookout
