#include "platform/cameras/sensor_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "platform/cameras/camera_mode.h"

namespace lookout {
namespace {

constexpr int kMaxBits = 12;
constexpr double kWholeField = 0.98;  // ov5647: 2560 of 2592 pixels

bool is_deep(const SensorMode& mode) { return mode.bits > kMaxBits; }

bool contains(const SensorMode& mode, int width, int height) {
  return mode.width >= width && mode.height >= height;
}

// Of two modes that are deep, or not: the order by size, then by bits.
bool is_smaller(const SensorMode& a, const SensorMode& b) {
  const auto key = [](const SensorMode& mode) {
    return std::make_pair(std::int64_t{mode.width} * mode.height, mode.bits);
  };
  return key(a) < key(b);
}

bool is_as_large(const SensorMode& a, const SensorMode& b) {
  return a.width == b.width && a.height == b.height;
}

SensorSize largest_of(const std::vector<SensorMode>& modes) {
  SensorSize size;
  for (const SensorMode& mode : modes) {
    size = {std::max(size.width, mode.width), std::max(size.height, mode.height)};
  }
  return size;
}

bool is_fast(const GrantedSensorMode& mode, double framerate) {
  return mode.max_fps == 0 || !is_slower(mode.max_fps, framerate);
}

}  // namespace

std::optional<SensorMode> choose_sensor_mode(const std::vector<SensorMode>& modes,
                                             const SensorSize& active, const SensorSize& output) {
  if (modes.empty()) return std::nullopt;
  const SensorSize field = active.width > 0 && active.height > 0 ? active : largest_of(modes);
  const int width = std::max((field.width + 1) / 2, output.width);
  const int height = std::max((field.height + 1) / 2, output.height);
  std::vector<SensorMode> sorted = modes;
  const auto deep = std::stable_partition(sorted.begin(), sorted.end(),
                                          [](const SensorMode& mode) { return !is_deep(mode); });
  if (deep != sorted.begin()) sorted.erase(deep, sorted.end());
  std::sort(sorted.begin(), sorted.end(), is_smaller);
  const auto found = std::find_if(sorted.begin(), sorted.end(), [&](const SensorMode& mode) {
    return contains(mode, width, height);
  });
  if (found == sorted.end()) return sorted.back();
  return *std::find_if(sorted.rbegin(), sorted.rend(),
                       [&](const SensorMode& mode) { return is_as_large(mode, *found); });
}

GrantedSensorMode choose_fast_mode(const std::vector<GrantedSensorMode>& modes, double framerate) {
  return *std::min_element(modes.begin(), modes.end(),
                           [&](const GrantedSensorMode& a, const GrantedSensorMode& b) {
                             const bool fast = is_fast(a, framerate);
                             if (fast != is_fast(b, framerate)) return fast;
                             return fast ? a.field > b.field : a.max_fps > b.max_fps;
                           });
}

std::string to_text(const GrantedSensorMode& mode) {
  std::string text = fmt::format("{}x{}", mode.mode.width, mode.mode.height);
  if (mode.mode.bits > 0) text += fmt::format(", {} bit", mode.mode.bits);
  if (mode.field >= kWholeField) return text + ", the whole field of view";
  if (mode.field > 0) {
    text += fmt::format(", {} % of the field's width", std::lround(mode.field * 100));
  }
  return text;
}

}  // namespace lookout
