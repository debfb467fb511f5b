#include "platform/sources/test_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>

namespace lookout {
namespace {

constexpr int kWave = 64;  // frames after which the movement repeats
constexpr std::size_t kNoisePlaces = 1U << 16U;

// 0, 1 .. 16 .. -16 .. -1 over the frames of a wave.
int triangle(int phase) {
  constexpr int kPeak = kWave / 4;
  if (phase <= kPeak) return phase;
  return phase <= 3 * kPeak ? 2 * kPeak - phase : phase - kWave;
}

int sway(int phase, int width) { return triangle(phase) * (width / 16) / (kWave / 4); }

cv::Rect marker(int phase, const cv::Size& size) {
  const int square = std::min(size.width, size.height);
  const int side = std::max(4, square / 16);
  const int left = (size.width - square) / 2 + phase * (square - side) / (kWave - 1);
  const int top = (size.height - square) / 2 + square - 2 * side;
  return {left, top, side, side};
}

std::vector<std::int16_t> make_noise(double sigma, std::size_t count) {
  std::mt19937 random;  // the default seed: the same noise every time
  std::normal_distribution<double> normal(0, sigma);
  std::vector<std::int16_t> noise(count);
  // Beyond a byte's range there is nothing to add to a byte.
  for (auto& value : noise) {
    value = static_cast<std::int16_t>(std::clamp(std::round(normal(random)), -255.0, 255.0));
  }
  return noise;
}

void add_saturated(std::uint8_t* bytes, const std::int16_t* noise, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto sum = static_cast<std::int16_t>(bytes[i] + noise[i]);
    bytes[i] = static_cast<std::uint8_t>(std::clamp<std::int16_t>(sum, 0, 255));
  }
}

std::string describe(const TestSourceOptions& options) {
  std::string text =
      fmt::format("test pattern {}, {}x{}, ", options.pattern ? to_text(*options.pattern) : "all",
                  options.width, options.height);
  text += options.fps > 0 ? fmt::format("{} fps", options.fps) : "unpaced";
  if (options.still) text += ", still";
  if (options.noise > 0) text += fmt::format(", noise {}", options.noise);
  return text;
}

}  // namespace

TestSource::TestSource(const TestSourceOptions& options)
    : options_(options), info_{"test", describe(options), options.fps > 0}, pacer_(options.fps) {
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    origins_[i] = fmt::format("test://{}", kPatternNames[i]);
  }
  if (options_.noise > 0) {
    noise_ =
        make_noise(options_.noise, kNoisePlaces + static_cast<std::size_t>(options_.width) * 3);
  }
}

ReadStatus TestSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  if (options_.frames > 0 && number_ == options_.frames) return ReadStatus::kEnd;
  if (!pacer_.wait(timeout)) return ReadStatus::kTimeout;
  const auto start = Clock::now();
  frame.captured = pacer_.take();
  frame.origin = origins_.at(static_cast<std::size_t>(pattern_of(number_)));
  draw(frame.bgr);
  frame.capture_duration = Clock::now() - start;
  ++number_;
  return ReadStatus::kFrame;
}

Pattern TestSource::pattern_of(std::uint64_t number) const {
  if (options_.pattern) return *options_.pattern;
  const auto turn = number / static_cast<std::uint64_t>(options_.hold);
  return static_cast<Pattern>(turn % kPatternNames.size());
}

const cv::Mat& TestSource::picture(Pattern pattern) {
  cv::Mat& picture = pictures_.at(static_cast<std::size_t>(pattern));
  if (picture.empty()) {
    picture.create(options_.height, options_.width, CV_8UC3);
    draw_pattern(pattern, picture);
  }
  return picture;
}

void TestSource::draw(cv::Mat& bgr) {
  const Pattern pattern = pattern_of(number_);
  const int phase = static_cast<int>(number_ % kWave);
  bgr.create(options_.height, options_.width, CV_8UC3);
  if (options_.still) {
    picture(pattern).copyTo(bgr);
  } else if (pattern == Pattern::kNoise) {
    const auto pixels = [this](int size) {
      return static_cast<int>(random_() % static_cast<unsigned>(size));
    };
    const int dx = pixels(options_.width);
    const int dy = pixels(options_.height);
    copy_shifted(picture(pattern), dx, dy, bgr);
  } else {
    copy_shifted(picture(pattern), sway(phase, options_.width), 0, bgr);
  }
  if (!options_.still) draw_marker(marker(phase, bgr.size()), bgr);
  if (!noise_.empty()) add_noise(bgr);
}

void TestSource::add_noise(cv::Mat& bgr) {
  for (int y = 0; y < bgr.rows; ++y) {
    add_saturated(bgr.ptr(y), noise_.data() + random_() % kNoisePlaces,
                  static_cast<std::size_t>(bgr.cols) * 3);
  }
}

}  // namespace lookout
