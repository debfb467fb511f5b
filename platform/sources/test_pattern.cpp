#include "platform/sources/test_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <opencv2/core/types.hpp>
#include <random>

namespace lookout {
namespace {

struct Colour {
  std::uint8_t blue;
  std::uint8_t green;
  std::uint8_t red;
};

constexpr int kBars = 8;
constexpr int kCheckerCell = 16;  // pixels, whatever the picture's size

constexpr Colour kBlack{0, 0, 0};
constexpr Colour kWhite{255, 255, 255};
constexpr Colour kRed{0, 0, 255};
constexpr Colour kGreen{0, 255, 0};
constexpr Colour kBlue{255, 0, 0};
constexpr Colour kGray{127, 127, 127};

// The order of the EBU and SMPTE bars, from the brightest to the darkest.
Colour bar_colour(int index, std::uint8_t level) {
  static constexpr std::array<std::array<bool, 3>, kBars> kBlueGreenRed{{{true, true, true},
                                                                         {false, true, true},
                                                                         {true, true, false},
                                                                         {false, true, false},
                                                                         {true, false, true},
                                                                         {false, false, true},
                                                                         {true, false, false},
                                                                         {false, false, false}}};
  const auto& on = kBlueGreenRed.at(static_cast<std::size_t>(index));
  const auto value = [level](bool lit) { return lit ? level : std::uint8_t{0}; };
  return {value(on[0]), value(on[1]), value(on[2])};
}

Colour gray(int level) {
  const auto byte = static_cast<std::uint8_t>(level);
  return {byte, byte, byte};
}

int fine_cell(const cv::Size& size) { return std::max(2, std::min(size.width, size.height) / 56); }

template <typename ColourAt>
void fill(cv::Mat& bgr, ColourAt colour_at) {
  for (int y = 0; y < bgr.rows; ++y) {
    auto* row = bgr.ptr<Colour>(y);
    for (int x = 0; x < bgr.cols; ++x) row[x] = colour_at(x, y);
  }
}

void fill_checkers(cv::Mat& bgr, int cell, const Colour& odd, const Colour& even) {
  fill(bgr, [&](int x, int y) { return ((x / cell + y / cell) & 1) != 0 ? odd : even; });
}

void fill_lines(cv::Mat& bgr, bool horizontal) {
  const int cell = fine_cell(bgr.size());
  fill(bgr,
       [=](int x, int y) { return (((horizontal ? y : x) / cell) & 1) != 0 ? kWhite : kBlack; });
}

void fill_cross(cv::Mat& bgr) {
  const int half = std::max(2, std::min(bgr.cols, bgr.rows) / 48);
  const auto in_stroke = [half](int position, int size) {
    return position >= size / 2 - half && position < size / 2 + half;
  };
  fill(bgr, [&](int x, int y) {
    return in_stroke(x, bgr.cols) || in_stroke(y, bgr.rows) ? kWhite : kBlack;
  });
}

void fill_noise(cv::Mat& bgr) {
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

std::string_view name_of(Pattern pattern) {
  return kPatternNames.at(static_cast<std::size_t>(pattern));
}

void draw_pattern(Pattern pattern, cv::Mat& bgr) {
  const int w = bgr.cols;
  const int h = bgr.rows;
  const auto solid = [&bgr](const Colour& colour) {
    bgr.setTo(cv::Scalar(colour.blue, colour.green, colour.red));
  };
  switch (pattern) {
    case Pattern::kColorBars:
      return fill(bgr, [w](int x, int) { return bar_colour(x * kBars / w, 191); });  // 75 % bars
    case Pattern::kHorizontalColorBars:
      return fill(bgr, [h](int, int y) { return bar_colour(y * kBars / h, 255); });
    case Pattern::kColorSquares:
      return fill(bgr, [w, h](int x, int y) {
        return bar_colour((y * kBars / h + x * kBars / w) % kBars, 255);
      });
    case Pattern::kBlack:
      return solid(kBlack);
    case Pattern::kWhite:
      return solid(kWhite);
    case Pattern::kRed:
      return solid(kRed);
    case Pattern::kGreen:
      return solid(kGreen);
    case Pattern::kBlue:
      return solid(kBlue);
    case Pattern::kGray:
      return solid(kGray);
    case Pattern::kCheckers:
      return fill_checkers(bgr, kCheckerCell, kBlack, kWhite);
    case Pattern::kColorCheckers:
      return fill_checkers(bgr, fine_cell(bgr.size()), kRed, kBlue);
    case Pattern::kHorizontalLines:
      return fill_lines(bgr, true);
    case Pattern::kVerticalLines:
      return fill_lines(bgr, false);
    case Pattern::kCross:
      return fill_cross(bgr);
    case Pattern::kRamp:
      return fill(bgr, [w](int x, int) { return gray(x * 256 / w); });
    case Pattern::kNoise:
      return fill_noise(bgr);
  }
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
