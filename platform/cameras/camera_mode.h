// What a camera offers, and which of it to take. Pure: no device is touched here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/cameras/source_options.h"

namespace lookout {

// A size of a format, or a grid of them: width, width + width_step, ... most_width.
struct CameraSize {
  int width = 0;   // pixels; of a grid the least
  int height = 0;  // pixels; of a grid the least
  int most_width = 0;
  int most_height = 0;
  int width_step = 1;
  int height_step = 1;
  std::vector<double> rates;  // frames a second, fastest first; empty: the driver does not tell
  bool any_rate = false;      // `rates` are the fastest and the slowest, and those between exist

  bool is_grid() const { return most_width > width || most_height > height; }
};

struct CameraFormat {
  std::uint32_t fourcc = 0;  // V4L2_PIX_FMT_...
  std::string description;   // the kernel's: "YUYV 4:2:2", "10-bit Bayer BGBG Packed"
  std::vector<CameraSize> sizes;
};

// The time from a frame to the next, in seconds, as V4L2 has it: 1001/30000.
struct FrameInterval {
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 0;
};

// Frames a second; 0, which is unknown, of an interval of nothing.
double rate_of(const FrameInterval& interval);

// The simplest that makes `fps`: drivers take the next slower rate where a rounded one misses
// theirs.
FrameInterval interval_of(double fps);

// What is asked for: what the user said, else what the model needs.
struct ModeWish {
  int needed_width = 224;  // pixels, at least
  int needed_height = 224;
  std::optional<int> width;  // pixels, exactly
  std::optional<int> height;
  double framerate = 30;  // frames a second, at least
};

ModeWish wish_of(const SourceOptions& options);

struct CameraMode {
  std::uint32_t fourcc = 0;
  int width = 0;
  int height = 0;
  double framerate = 0;  // to ask for: the slowest offered that is fast enough, else the fastest
};

struct ModeChoice {
  struct Rejected {
    std::uint32_t fourcc = 0;
    std::string size;  // "640x480", "16x16...1920x1080"
    std::string reason;
  };
  std::optional<CameraMode> mode;  // nothing: no format can be read
  std::vector<Rejected> rejected;  // all the others
};

// Of the formats that can be read: the size that was asked for, else the smallest that is not
// smaller than needed and reaches the rate; of equal sizes the format that costs least, BGR and
// YUYV before MJPG. Where nothing reaches the rate, the fastest; where all are too small, the
// largest. A rate that is not told counts as reached.
ModeChoice choose_mode(const std::vector<CameraFormat>& formats, const ModeWish& wish);

// The choice in lines for a log: the mode, then a line for each reason with what was rejected.
std::vector<std::string> lines_of(const ModeChoice& choice);

// Pictures of a sensor as it is, which an image processor has to make pictures of first.
bool is_bayer(const CameraFormat& format);

bool can_be_read(std::uint32_t fourcc);

// "YUYV".
std::string text_of_fourcc(std::uint32_t fourcc);

// "640x480", or "16x16...1920x1080".
std::string text_of_size(const CameraSize& size);

// "30 fps", "an unknown rate".
std::string text_of_rate(double fps);

// Whether `given` frames a second are less than those `asked` for: 29.97 is 30.
bool is_slower(double given, double asked);

// SourceInfo::shortfall of a camera that granted this; empty when it is what was wished for. `fps`:
// 0 when it is unknown, which is not less.
std::string shortfall_of(const ModeWish& wish, int width, int height, double fps);

}  // namespace lookout
