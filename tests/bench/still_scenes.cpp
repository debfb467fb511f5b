// What the detector of still scenes sees and what it misses, on scenes made of photographs.
//
//   still_scenes FOLDER [WIDTH HEIGHT [PICTURES]]    default 640 480 6
//
// Takes PICTURES of the pictures in and below FOLDER, spread evenly, and makes scenes of 3 s at 30
// fps of each, in which something happens or does not: with noise of four strengths, as a camera's
// luma and as JPEGs of two qualities, which are decoded at 1/8 in grey. A frame a second is
// classified whatever happens. Prints a Markdown table. Same input, same table.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/model/luma_grid.h"
#include "pipeline/model/still_detector.h"

namespace lookout {
namespace {

constexpr int kFrames = 90;
constexpr int kEvent = 50;   // the frame in which it happens
constexpr int kSecond = 30;  // frames
constexpr double kPi = 3.14159265358979323846;

constexpr std::array<double, 4> kNoises{1, 3, 6, 12};
constexpr std::array<int, 3> kQualities{0, 85, 50};  // 0: no JPEG

// Two pictures, CV_8UC1, of the frame's size; the second is what comes in.
struct Shot {
  cv::Mat scene;
  cv::Mat other;
};

using Draw = std::function<void(const Shot& shot, int t, cv::Mat& frame)>;

struct Scene {
  std::string name;
  bool has_event;
  Draw draw;
  bool ignores_clock = false;
};

// A square of the other picture that covers `share` of the classified square.
void put_object(const Shot& shot, double share, cv::Mat& frame) {
  const int region = std::min(frame.cols, frame.rows);
  const int side = static_cast<int>(std::lround(region * std::sqrt(share)));
  cv::Mat object;
  cv::resize(shot.other, object, {side, side}, 0, 0, cv::INTER_AREA);
  // Not aligned to blocks.
  const cv::Point place(frame.cols / 2 - region / 5 + 3, frame.rows / 2 - region / 7 + 5);
  object.copyTo(frame(cv::Rect(place, object.size())));
}

void put_even_object(double share, int levels, cv::Mat& frame) {
  const int side =
      static_cast<int>(std::lround(std::min(frame.cols, frame.rows) * std::sqrt(share)));
  cv::Mat area = frame(cv::Rect(frame.cols / 2 + 3, frame.rows / 2 + 5, side, side));
  area += levels;
}

Draw object(double share) {
  return [share](const Shot& shot, int t, cv::Mat& frame) {
    if (t >= kEvent) put_object(shot, share, frame);
  };
}

Draw faint_object(double share, int levels) {
  return [=](const Shot&, int t, cv::Mat& frame) {
    if (t >= kEvent) put_even_object(share, levels, frame);
  };
}

Draw dims(double to, int frames) {
  return [=](const Shot&, int t, cv::Mat& frame) {
    const double part = std::clamp((t - kEvent + 1) / static_cast<double>(frames), 0.0, 1.0);
    frame.convertTo(frame, -1, 1 - (1 - to) * part);
  };
}

void fade(const Shot& shot, int t, cv::Mat& frame) {
  const double part = std::clamp((t - kEvent + 1) / 60.0, 0.0, 1.0);
  cv::addWeighted(shot.scene, 1 - part, shot.other, part, 0, frame);
}

// Light at 100 Hz, seen at 29.97 frames a second, `bands` periods over the height of a frame.
void flicker(double strength, double bands, int t, cv::Mat& frame) {
  for (int y = 0; y < frame.rows; ++y) {
    const double phase = 100.0 / 29.97 * t + bands * y / frame.rows;
    cv::Mat line = frame.row(y);
    line.convertTo(line, -1, 1 + strength * std::sin(2 * kPi * phase));
  }
}

Draw flickers(double strength, double bands, double share) {
  return [=](const Shot& shot, int t, cv::Mat& frame) {
    if (share > 0 && t >= kEvent) put_object(shot, share, frame);
    flicker(strength, bands, t, frame);
  };
}

// What the sun makes of luma when an infrared filter leaves the light's path.
void switch_filter(const Shot&, int t, cv::Mat& frame) {
  if (t < kEvent) return;
  cv::Mat table(1, 256, CV_8UC1);
  for (int i = 0; i < 256; ++i) {
    table.at<std::uint8_t>(i) = cv::saturate_cast<std::uint8_t>(255 * std::pow(i / 255.0, 0.7));
  }
  cv::LUT(frame, table, frame);
}

const cv::Rect2d kClock{0.0, 0.0, 0.5, 0.1};  // of the frame

void put_clock(int t, cv::Mat& frame) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "12:34:%02d", (t + kSecond / 2) / kSecond + 8);
  const double scale = frame.rows / 480.0;
  const cv::Point place(static_cast<int>(frame.cols * 0.14), static_cast<int>(frame.rows * 0.07));
  cv::putText(frame, text.data(), place, cv::FONT_HERSHEY_SIMPLEX, scale, {255}, 2);
}

void shake(double pixels, int t, cv::Mat& frame) {
  const double x = pixels * std::sin(t * 2.4);
  const double y = pixels * std::cos(t * 1.7);
  const cv::Mat shift = (cv::Mat_<double>(2, 3) << 1, 0, x, 0, 1, y);
  cv::warpAffine(frame.clone(), frame, shift, frame.size(), cv::INTER_LINEAR, cv::BORDER_REFLECT);
}

// The left part of the classified square sways.
void sway(double part, int t, cv::Mat& frame) {
  const int region = std::min(frame.cols, frame.rows);
  const cv::Rect tree((frame.cols - region) / 2, 0, static_cast<int>(region * part), frame.rows);
  cv::Mat moved = frame.clone();
  shake(frame.rows / 80.0, t, moved);
  moved(tree).copyTo(frame(tree));
}

Draw sways(double part, double share) {
  return [=](const Shot& shot, int t, cv::Mat& frame) {
    sway(part, t, frame);
    if (share <= 0 || t < kEvent) return;
    const int region = std::min(frame.cols, frame.rows);
    const int side = static_cast<int>(region * std::sqrt(share));
    cv::Mat car;
    cv::resize(shot.other, car, {side, side}, 0, 0, cv::INTER_AREA);
    car.copyTo(frame(cv::Rect((frame.cols + region) / 2 - side - 7, frame.rows / 2, side, side)));
  };
}

std::vector<Scene> all_scenes() {
  const auto shakes = [](double pixels) {
    return [pixels](const Shot&, int t, cv::Mat& frame) { shake(pixels, t, frame); };
  };
  const auto clock = [](double share) {
    return [share](const Shot& shot, int t, cv::Mat& frame) {
      if (share > 0 && t >= kEvent) put_object(shot, share, frame);
      put_clock(t, frame);
    };
  };
  const auto cut = [](const Shot& shot, int t, cv::Mat& frame) {
    if (t >= kEvent) shot.other.copyTo(frame);
  };
  return {
      {"nothing happens", false, [](const Shot&, int, cv::Mat&) {}},
      {"cut to another picture", true, cut},
      {"fade to another picture in 2 s", true, fade},
      {"an object of 5 % enters", true, object(0.05)},
      {"an object of 1 % enters", true, object(0.01)},
      {"an object of 0.25 % enters", true, object(0.0025)},
      {"an even object of 5 %, 5 levels brighter", true, faint_object(0.05, 5)},
      {"an even object of 1 %, 10 levels brighter", true, faint_object(0.01, 10)},
      {"an even object of 0.25 %, 20 levels brighter", true, faint_object(0.0025, 20)},
      {"lights dim to half in 1 s", true, dims(0.5, kSecond)},
      {"lights dim by 10 % in 1 s", true, dims(0.9, kSecond)},
      {"exposure 15 % up", true, dims(1.15, 1)},
      {"exposure 5 % down", true, dims(0.95, 1)},
      {"infrared filter switches", true, switch_filter},
      {"flicker of 3 %, whole frame", false, flickers(0.03, 0, 0)},
      {"flicker of 3 %, bands", false, flickers(0.03, 3.3, 0)},
      {"flicker of 3 %, bands; an object of 1 % enters", true, flickers(0.03, 3.3, 0.01)},
      {"flicker of 10 %, bands", false, flickers(0.1, 3.3, 0)},
      {"a drawn clock", false, clock(0)},
      {"a drawn clock, ignored", false, clock(0), true},
      {"a drawn clock, ignored; an object of 1 % enters", true, clock(0.01), true},
      {"a camera that shakes by 1/4 pixel", false, shakes(0.25)},
      {"a camera that shakes by 1 pixel", false, shakes(1)},
      {"a camera that shakes by 4 pixels", false, shakes(4)},
      {"30 % sways", false, sways(0.3, 0)},
      {"30 % sways; an object of 5 % enters beside it", true, sways(0.3, 0.05)},
      {"70 % sways; an object of 5 % enters beside it", true, sways(0.7, 0.05)},
  };
}

// Adds noise with independent pixels.
class Noise {
 public:
  Noise(const cv::Size& frame, double deviation) : size_(frame) {
    pool_.create(frame.height + kRoom, frame.width + kRoom, CV_16SC1);
    cv::RNG random(1);
    random.fill(pool_, cv::RNG::NORMAL, 0, deviation);
  }

  void add(cv::Mat& frame) {
    const cv::Point place(random_.uniform(0, kRoom), random_.uniform(0, kRoom));
    cv::add(frame, pool_(cv::Rect(place, size_)), frame, cv::noArray(), CV_8U);
  }

 private:
  static constexpr int kRoom = 256;

  cv::Size size_;
  cv::Mat pool_;
  cv::RNG random_{2};
};

// What a run sees of a frame.
class Camera {
 public:
  Camera(const cv::Size& frame, int quality, bool ignores_clock)
      : size_(frame),
        quality_(quality),
        grid_(View{}, InputSpec{},
              ignores_clock ? std::vector<cv::Rect2d>{kClock} : std::vector<cv::Rect2d>{}) {}

  const LumaBlocks& blocks(const cv::Mat& frame) {
    if (quality_ > 0) {
      cv::imencode(".jpg", frame, jpeg_, {cv::IMWRITE_JPEG_QUALITY, quality_});
      grid_.measure(cv::imdecode(jpeg_, cv::IMREAD_REDUCED_GRAYSCALE_8), size_, blocks_);
    } else {
      RawPicture raw;
      raw.format = RawFormat::kNv12;
      raw.width = frame.cols;
      raw.height = frame.rows;
      raw.stride = frame.step;
      raw.planes = {frame.data, frame.data, nullptr};  // nobody looks at chroma
      grid_.measure(raw, blocks_);
    }
    return blocks_;
  }

 private:
  cv::Size size_;
  int quality_;
  LumaGrid grid_;
  std::vector<unsigned char> jpeg_;
  LumaBlocks blocks_;
};

struct Outcome {
  int reused = 0;
  int delay = 0;  // frames from the event to the next classified one
  bool seen = false;
};

Outcome run(const Scene& scene, const Shot& shot, Noise& noise, Camera& camera) {
  StillDetector detector;
  Outcome outcome;
  int last = -kSecond;
  bool waiting = scene.has_event;
  cv::Mat frame;
  for (int t = 0; t < kFrames; ++t) {
    shot.scene.copyTo(frame);
    scene.draw(shot, t, frame);
    noise.add(frame);
    const LumaBlocks& blocks = camera.blocks(frame);
    const bool still = detector.is_still(blocks);
    const bool due = t - last >= kSecond;
    if (still && !due) {
      ++outcome.reused;
      continue;
    }
    detector.classified(blocks);
    last = t;
    if (!waiting || t < kEvent) continue;
    waiting = false;
    outcome.delay = t - kEvent;
    outcome.seen = !still;
  }
  return outcome;
}

// Of all runs of a scene with the same noise and coding.
struct Tally {
  int runs = 0;
  int reused = 0;
  int seen = 0;
  int worst_delay = 0;  // of those seen

  void add(const Outcome& outcome) {
    ++runs;
    reused += outcome.reused;
    seen += outcome.seen ? 1 : 0;
    if (outcome.seen) worst_delay = std::max(worst_delay, outcome.delay);
  }
};

std::string cell(const Scene& scene, const Tally& tally) {
  std::string text = std::to_string(100 * tally.reused / (tally.runs * kFrames)) + " %";
  if (!scene.has_event) return text;
  if (tally.seen < tally.runs) {
    text += ", **" + std::to_string(tally.seen) + "/" + std::to_string(tally.runs) + "**";
  }
  if (tally.worst_delay > 0) text += ", +" + std::to_string(tally.worst_delay);
  return text;
}

cv::Mat read_picture(const std::string& file, const cv::Size& size) {
  const cv::Mat picture = cv::imread(file, cv::IMREAD_GRAYSCALE);
  if (picture.empty()) throw std::runtime_error(file + " is no picture");
  const double scale = std::max(static_cast<double>(size.width) / picture.cols,
                                static_cast<double>(size.height) / picture.rows);
  cv::Mat scaled;
  cv::resize(picture, scaled, {}, scale * 1.001, scale * 1.001, cv::INTER_CUBIC);
  const cv::Point corner((scaled.cols - size.width) / 2, (scaled.rows - size.height) / 2);
  return scaled(cv::Rect(corner, size)).clone();
}

std::vector<Shot> read_shots(const std::string& folder, const cv::Size& size, std::size_t count) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg") files.push_back(entry.path().string());
  }
  if (files.size() < 2 * count) throw std::runtime_error(folder + " has too few pictures (.jpg)");
  std::sort(files.begin(), files.end());
  const auto picture = [&](std::size_t number) {
    return read_picture(files[number * files.size() / (2 * count)], size);
  };
  std::vector<Shot> shots;
  for (std::size_t i = 0; i < count; ++i) shots.push_back({picture(i), picture(i + count)});
  return shots;
}

int main_of(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.size() == 2) {
    std::cerr << "still_scenes FOLDER [WIDTH HEIGHT [PICTURES]]\n";
    return 1;
  }
  cv::setNumThreads(1);
  const bool sized = arguments.size() > 2;
  const cv::Size size =
      sized ? cv::Size(std::stoi(arguments[1]), std::stoi(arguments[2])) : cv::Size(640, 480);
  const std::size_t count = arguments.size() > 3 ? std::stoul(arguments[3]) : 6;
  const std::vector<Shot> shots = read_shots(arguments[0], size, count);

  std::string head = "| scene |";
  std::string line = "| --- |";
  for (const int quality : kQualities) {
    for (const double noise : kNoises) {
      head += quality > 0 ? " q" + std::to_string(quality) : std::string(" raw");
      head += ", " + std::to_string(static_cast<int>(noise)) + " |";
      line += " --- |";
    }
  }
  std::cout << head << "\n" << line << std::endl;
  for (const Scene& scene : all_scenes()) {
    std::cout << "| " << scene.name << " |";
    for (const int quality : kQualities) {
      for (const double deviation : kNoises) {
        Tally tally;
        Noise noise(size, deviation);
        Camera camera(size, quality, scene.ignores_clock);
        for (const Shot& shot : shots) tally.add(run(scene, shot, noise, camera));
        std::cout << " " << cell(scene, tally) << " |" << std::flush;
      }
    }
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace lookout

int main(int argc, char** argv) {
  try {
    return lookout::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "still_scenes: " << error.what() << "\n";
    return 1;
  }
}
