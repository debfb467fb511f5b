#include "platform/cameras/sensor_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "platform/cameras/camera_mode.h"

namespace lookout {
namespace {

constexpr int kMaxBits = 12;
constexpr double kWholeField = 0.98;  // ov5647: 2560 of 2592 pixels

SensorSize largest_of(const std::vector<SensorMode>& modes) {
  SensorSize size;
  for (const SensorMode& mode : modes) {
    size = {std::max(size.width, mode.width), std::max(size.height, mode.height)};
  }
  return size;
}

}  // namespace

bool operator==(const SensorMode& a, const SensorMode& b) {
  return a.width == b.width && a.height == b.height && a.bits == b.bits;
}

std::optional<SensorMode> choose_sensor_mode(const std::vector<SensorMode>& modes,
                                             const SensorSize& active, const SensorSize& output) {
  if (modes.empty()) return std::nullopt;
  const SensorSize field = active.width > 0 && active.height > 0 ? active : largest_of(modes);
  const int width = std::max((field.width + 1) / 2, output.width);
  const int height = std::max((field.height + 1) / 2, output.height);
  const auto order = [width, height](const SensorMode& mode) {
    const std::int64_t area = std::int64_t{mode.width} * mode.height;
    const bool fits = mode.width >= width && mode.height >= height;
    return std::make_tuple(mode.bits > kMaxBits, !fits, fits ? area : -area, -mode.bits);
  };
  return *std::min_element(modes.begin(), modes.end(),
                           [&](const auto& a, const auto& b) { return order(a) < order(b); });
}

bool reaches(const GrantedSensorMode& mode, double framerate) {
  return mode.max_fps == 0 || !is_slower(mode.max_fps, framerate);
}

double field_of(const GrantedSensorMode& mode) { return mode.field_width * mode.field_height; }

GrantedSensorMode choose_fast_mode(const std::vector<GrantedSensorMode>& modes, double framerate) {
  if (reaches(modes.front(), framerate)) return modes.front();
  return *std::min_element(modes.begin(), modes.end(),
                           [&](const GrantedSensorMode& a, const GrantedSensorMode& b) {
                             const bool fast = reaches(a, framerate);
                             if (fast != reaches(b, framerate)) return fast;
                             return fast ? field_of(a) > field_of(b) : a.max_fps > b.max_fps;
                           });
}

std::string to_text(const SensorMode& mode) {
  const std::string size = fmt::format("{}x{}", mode.width, mode.height);
  return mode.bits > 0 ? fmt::format("{}, {} bit", size, mode.bits) : size;
}

std::string field_to_text(const GrantedSensorMode& mode) {
  if (field_of(mode) == 0) return {};
  if (std::min(mode.field_width, mode.field_height) >= kWholeField) {
    return "the whole field of view";
  }
  return fmt::format("{} % of the field's width and {} % of its height",
                     std::lround(mode.field_width * 100), std::lround(mode.field_height * 100));
}

std::string to_text(const GrantedSensorMode& mode) {
  const std::string field = field_to_text(mode);
  return field.empty() ? to_text(mode.mode) : to_text(mode.mode) + ", " + field;
}

}  // namespace lookout
