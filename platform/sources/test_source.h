// Test patterns as a camera, for `test://`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pipeline/core/source.h"
#include "platform/sources/pacer.h"
#include "platform/sources/test_pattern.h"

namespace lookout {

struct TestSourceOptions {
  std::optional<Pattern> pattern;  // nothing: all in turn
  int width = 640;                 // pixels, kMinTestSize..kMaxTestSize
  int height = 480;                // pixels, likewise
  double fps = 30;                 // kMinTestFps..kMaxTestFps; 0: unpaced, and then not live
  double noise = 0;                // standard deviation in levels of 0..255, at most kMaxTestNoise
  bool still = false;              // nothing moves: frames differ by their noise alone
  int hold = 30;                   // frames that each of all the patterns is shown for, >= 1
  std::uint64_t frames = 0;        // ends after so many; 0: never
};

inline constexpr int kMinTestSize = 16;
inline constexpr int kMaxTestSize = 8192;
inline constexpr double kMinTestFps = 0.1;  // slower only looks like a stalled source
inline constexpr double kMaxTestFps = 1000;
inline constexpr double kMaxTestNoise = 128;

// The picture sways to and fro and a marker wanders through its lower part, so that frames differ,
// unless they are to be still.
// The n-th frame has the same pixels in every run. Paced, a frame is captured at the moment it is
// due; frames whose time has gone by when the reader comes are left out, not made up for. Memory is
// allocated for the first frame of each pattern alone.
class TestSource : public Source {
 public:
  explicit TestSource(const TestSourceOptions& options);

  const SourceInfo& info() const override { return info_; }
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  Pattern pattern_of(std::uint64_t number) const;
  const cv::Mat& picture(Pattern pattern);
  void draw(cv::Mat& bgr);
  void add_noise(cv::Mat& bgr);

  TestSourceOptions options_;
  SourceInfo info_;
  Pacer pacer_;
  std::uint64_t number_ = 0;                            // of the frame to come
  std::array<cv::Mat, kPatternNames.size()> pictures_;  // drawn when first shown
  std::array<std::string, kPatternNames.size()> origins_;
  std::mt19937 random_;              // places in noise_, and how far the noise pattern moves
  std::vector<std::int16_t> noise_;  // normally distributed; empty without noise
};

}  // namespace lookout
