// The overlay window: its look, a picture and its predictions on one canvas, and the memory that
// lookout shares with lookout-overlay, the process that draws it. Both programs come from one
// build.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <opencv2/core/mat.hpp>
#include <opencv2/core/types.hpp>
#include <string>

#include "pipeline/model/preprocessor.h"

namespace lookout {

// Pixels of the canvas: the picture's place on the left, the texts on the right.
inline constexpr int kOverlayWidth = 960;
inline constexpr int kOverlayHeight = 480;
inline constexpr int kOverlayPictureWidth = 640;

inline constexpr int kOverlayRows = 10;
inline constexpr int kOverlayBoxes = 8;

// UTF-8 that ends with a zero. The canvas has room for about 40 characters.
using OverlayText = std::array<char, 128>;

// A font for all scripts. OpenCV's own has no other characters than ASCII.
class OverlayFont {
 public:
  // The baseline of texts in their pictures, in pixels from the top.
  static constexpr int kBaseline = 16;

  virtual ~OverlayFont() = default;

  // A picture (CV_8UC1) of the text in one line, white on black, at most `width` pixels wide. What
  // is longer is cut, and ends with an ellipsis.
  virtual cv::Mat picture(const std::string& text, int width) = 0;
};

struct OverlayRow {
  OverlayText label{};
  float score = 0;  // 0..1, the length of the bar
};

// A rectangle on the picture with its name.
struct OverlayBox {
  cv::Rect2d roi;  // as View::roi
  OverlayText text{};
};

// Copied as bytes from one process to another.
struct OverlayContent {
  OverlayText title{};
  OverlayText rates{};
  OverlayText latency{};
  bool alert = false;    // the lines above are bad news
  std::size_t rows = 0;  // at most kOverlayRows
  std::array<OverlayRow, kOverlayRows> row;
  std::size_t boxes = 0;  // at most kOverlayBoxes; 0: the view's region is framed instead
  std::array<OverlayBox, kOverlayBoxes> box;
};

// Draws on `canvas`, kOverlayWidth x kOverlayHeight CV_8UC3, which is allocated when its size
// differs. `picture` is CV_8UC3 of any size but empty; it is turned and mirrored as `view` says and
// scaled to its place. The boxes, or the view's region, are framed. Texts that are too long are
// cut. `font` draws those with other characters than ASCII; without one these characters are
// question marks.
void draw_overlay(const cv::Mat& picture, const View& view, const OverlayContent& content,
                  cv::Mat& canvas, OverlayFont* font = nullptr);

inline const char* const kOverlayProgram = "lookout-overlay";

// The memory's descriptor in the window's process.
inline constexpr int kOverlayMemory = 3;

// Pixels, in each direction: a larger picture is scaled down before it is copied.
inline constexpr int kOverlayMaxSide = 640;

struct OverlayShared {
  // lookout's process. The window ends when this is no longer its parent.
  std::atomic<pid_t> owner{0};

  // true: lookout may write the picture and its texts; false: the window may read them.
  std::atomic<bool> ready{false};
  // A character of the texts that no font has, UTF-8 that ends with a zero; empty: none so far.
  // Written by the window.
  std::array<char, 5> missing{};
  int width = 1;  // of the picture, pixels
  int height = 1;
  View view;
  OverlayContent content;
  std::array<unsigned char, 3UL * kOverlayMaxSide * kOverlayMaxSide> bgr;  // no padding
};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "others do not work between processes");

// Exit statuses of the window's process; any other one is an error.
inline constexpr int kOverlayQuit = 10;    // the user wants everything to end
inline constexpr int kOverlayClosed = 11;  // the user closed the window, or lookout is gone

}  // namespace lookout
