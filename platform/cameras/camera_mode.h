// The modes that a camera offers, and the choice among them. Pure: no device is touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/cameras/source_options.h"

namespace lookout {

// A size of a format, or a grid of sizes: width, width + width_step, ... max_width.
struct CameraSize {
  int width = 0;   // pixels; the smallest of a grid
  int height = 0;  // pixels; the smallest of a grid
  int max_width = 0;
  int max_height = 0;
  int width_step = 1;
  int height_step = 1;
  std::vector<double> rates;  // frames per second, fastest first; empty: not reported
  bool any_rate = false;      // `rates` are the fastest and the slowest of a range

  bool is_grid() const { return max_width > width || max_height > height; }
};

struct CameraFormat {
  std::uint32_t fourcc = 0;  // V4L2_PIX_FMT_...
  std::string description;   // the kernel's: "YUYV 4:2:2", "10-bit Bayer BGBG Packed"
  std::vector<CameraSize> sizes;
};

// The time from a frame to the next in seconds, as a fraction: 1001/30000.
struct FrameInterval {
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 0;
};

// Frames per second; 0 (unknown) for an interval of 0.
double rate_of(const FrameInterval& interval);

// The fraction with the smallest numerator that equals `fps`. A rounded fraction could be slightly
// faster than the driver's rate; drivers then take the next slower one.
FrameInterval interval_of(double fps);

// The mode that the user wants, or else the model.
struct ModeWish {
  int needed_width = 224;  // pixels, at least
  int needed_height = 224;
  std::optional<int> width;  // pixels, exactly
  std::optional<int> height;
  double framerate = 30;  // frames per second, at least
};

ModeWish wish_of(const SourceOptions& options);

struct CameraMode {
  std::uint32_t fourcc = 0;
  int width = 0;
  int height = 0;
  double framerate = 0;  // the slowest that is fast enough, else the fastest
};

struct ModeChoice {
  struct Rejected {
    std::uint32_t fourcc = 0;
    std::string size;  // "640x480", "16x16...1920x1080"
    std::string reason;
  };
  std::optional<CameraMode> mode;  // empty: no format can be read
  std::vector<Rejected> rejected;  // all other modes
};

// Chooses among the readable formats the size that the user wants, or else the smallest that fills
// the model's input and reaches the rate. Among equal sizes the cheapest format wins: BGR and YUYV
// before MJPG. If no mode reaches the rate, the fastest wins; if all are too small, the largest. An
// unknown rate counts as reached.
ModeChoice choose_mode(const std::vector<CameraFormat>& formats, const ModeWish& wish);

// The choice as lines for a log: the mode, then one line with the rejected modes for each reason.
std::vector<std::string> to_text(const ModeChoice& choice);

// Whether it is the raw output of a sensor, which needs an image processor.
bool is_bayer(const CameraFormat& format);

bool can_be_read(std::uint32_t fourcc);

// "YUYV".
std::string fourcc_to_text(std::uint32_t fourcc);

// "640x480", or "16x16...1920x1080".
std::string to_text(const CameraSize& size);

// "30 fps", "an unknown rate".
std::string rate_to_text(double fps);

// Whether a rate is slower than the one asked for, with a tolerance: 29.97 counts as 30.
bool is_slower(double given, double asked);

// SourceInfo::shortfall for a granted mode; empty if it meets the wish. An `fps` of 0 is unknown
// and counts as fast enough.
std::string shortfall_of(const ModeWish& wish, int width, int height, double fps);

}  // namespace lookout
