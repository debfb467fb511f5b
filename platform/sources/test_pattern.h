// The test patterns: pure drawing, the same bytes on every machine.
//
// They follow what the kernel's virtual camera `vivid` shows, except that the cells of the finest
// ones grow with the picture, so that they survive being scaled down.
#pragma once

#include <array>
#include <opencv2/core/mat.hpp>
#include <optional>
#include <string_view>

namespace lookout {

// In the order of kPatternNames.
enum class Pattern {
  kColorBars,
  kHorizontalColorBars,
  kColorSquares,
  kBlack,
  kWhite,
  kRed,
  kGreen,
  kBlue,
  kGray,
  kCheckers,
  kColorCheckers,
  kHorizontalLines,
  kVerticalLines,
  kCross,
  kRamp,
  kNoise,
};

inline constexpr std::array<std::string_view, 16> kPatternNames{
    "colorbars", "hcolorbars", "colorsquares",  "black",  "white",  "red",   "green", "blue",
    "gray",      "checkers",   "colorcheckers", "hlines", "vlines", "cross", "ramp",  "noise"};

std::optional<Pattern> find_pattern(std::string_view name);
std::string_view to_text(Pattern pattern);

// Fills `bgr` (CV_8UC3, not empty) with the pattern. Noise is the same whenever it is drawn.
void draw_pattern(Pattern pattern, cv::Mat& bgr);

// Copies `picture` to `out` (same size and type, not the same memory), moved to the right by `dx`
// and down by `dy` pixels; what leaves on one side comes in on the other. Any sign, any amount.
void copy_shifted(const cv::Mat& picture, int dx, int dy, cv::Mat& out);

// Inverts the top bit of every byte within `area`, which lies within `bgr`.
void draw_marker(const cv::Rect& area, cv::Mat& bgr);

}  // namespace lookout
