#include "platform/cameras/camera_controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

// Values of libcamera's enumerations: control_ids_core.yaml.
constexpr double kAfManual = 0;
constexpr double kAfContinuous = 2;
constexpr double kManual = 1;  // of ExposureTimeMode, AnalogueGainMode and AeFlickerMode
constexpr double kMicroseconds = 1e6;

// What the user asked for by a key of [camera].
struct Wish {
  const char* key;
  ControlSetting setting;
  const char* mode = nullptr;  // a control to set to kManual first, where the camera has it
};

std::vector<Wish> wishes_of(const CameraControls& controls) {
  std::vector<Wish> wishes;
  if (controls.flicker > 0) {
    wishes.push_back({"camera.flicker", {"AeFlickerMode", {kManual}}});
    // The light goes out twice in a period of the mains.
    const double period = std::floor(kMicroseconds / (2 * controls.flicker));
    wishes.push_back({"camera.flicker", {"AeFlickerPeriod", {period}}});
  }
  if (controls.shutter) {  // the mode exists since libcamera 0.5
    wishes.push_back({"camera.shutter", {"ExposureTime", {*controls.shutter}}, "ExposureTimeMode"});
  }
  if (controls.gain) {
    wishes.push_back({"camera.gain", {"AnalogueGain", {*controls.gain}}, "AnalogueGainMode"});
  }
  const auto& all = white_balances();
  if (controls.awb != all.front()) {
    const auto mode = std::find(all.begin(), all.end(), controls.awb) - all.begin();
    wishes.push_back({"camera.awb", {"AwbMode", {static_cast<double>(mode)}}});
  }
  if (!controls.awb_gains.empty()) {
    wishes.push_back({"camera.awb-gains", {"ColourGains", controls.awb_gains}});
  }
  if (controls.lens_position) {
    wishes.push_back({"camera.lens-position", {"AfMode", {kAfManual}}});
    wishes.push_back({"camera.lens-position", {"LensPosition", {*controls.lens_position}}});
  }
  return wishes;
}

bool is_within(double value, const ControlRange& range) {
  return value >= range.min && value <= range.max;
}

}  // namespace

const std::vector<std::string>& white_balances() {
  static const std::vector<std::string> names{"auto",   "incandescent", "tungsten", "fluorescent",
                                              "indoor", "daylight",     "cloudy"};
  return names;
}

std::string first_key(const CameraControls& controls) {
  const auto wishes = wishes_of(controls);
  return wishes.empty() ? "" : wishes.front().key;
}

std::vector<ControlSetting> settings_of(const std::string& camera, const CameraControls& controls,
                                        const FindControl& find) {
  std::vector<ControlSetting> settings;
  const auto add_if_known = [&](const char* control, double value) {
    const auto range = find(control);
    if (range && is_within(value, *range)) settings.push_back({control, {value}});
  };
  for (const auto& [key, setting, mode] : wishes_of(controls)) {
    if (mode != nullptr) add_if_known(mode, kManual);
    const auto range = find(setting.name);
    if (!range) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("camera {} has no {}: leave {} out", camera, setting.name, key));
    }
    for (const double value : setting.values) {
      if (is_within(value, *range)) continue;
      throw Error(ErrorKind::kUnsupported, fmt::format("{} = {}: camera {} takes {} to {}", key,
                                                       value, camera, range->min, range->max));
    }
    settings.push_back(setting);
  }
  // libcamera's own default stays focused at 1 m.
  if (!controls.lens_position) add_if_known("AfMode", kAfContinuous);
  return settings;
}

double frame_duration(double framerate, const ControlRange& limits) {
  const double duration = std::round(kMicroseconds / framerate);
  return std::min(std::max(duration, limits.min), std::max(limits.min, limits.max));
}

}  // namespace lookout
