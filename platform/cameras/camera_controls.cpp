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

class Settings {
 public:
  Settings(const std::string& camera, const FindControl& find) : camera_(camera), find_(find) {}

  // Where the camera has the control.
  void add_if_known(const std::string& control, double value) {
    const auto range = find_(control);
    if (range && value >= range->min && value <= range->max) add(control, {value});
  }

  // What the user asked for by `key`.
  void add_wish(const std::string& key, const std::string& control, std::vector<double> values) {
    const auto range = find_(control);
    if (!range) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("camera {} has no {}: leave {} out", camera_, control, key));
    }
    for (const double value : values) {
      if (value >= range->min && value <= range->max) continue;
      throw Error(ErrorKind::kUnsupported, fmt::format("{} = {}: camera {} takes {} to {}", key,
                                                       value, camera_, range->min, range->max));
    }
    add(control, std::move(values));
  }

  std::vector<ControlSetting> take() { return std::move(settings_); }

 private:
  void add(const std::string& control, std::vector<double> values) {
    settings_.push_back({control, std::move(values)});
  }

  const std::string& camera_;
  const FindControl& find_;
  std::vector<ControlSetting> settings_;
};

void add_exposure(Settings& settings, const CameraControls& controls) {
  if (controls.flicker > 0) {
    settings.add_wish("camera.flicker", "AeFlickerMode", {kManual});
    // The light goes out twice in a period of the mains.
    settings.add_wish("camera.flicker", "AeFlickerPeriod",
                      {std::floor(kMicroseconds / (2 * controls.flicker))});
  }
  if (controls.shutter) {  // the mode exists since libcamera 0.5
    settings.add_if_known("ExposureTimeMode", kManual);
    settings.add_wish("camera.shutter", "ExposureTime", {*controls.shutter});
  }
  if (controls.gain) {
    settings.add_if_known("AnalogueGainMode", kManual);
    settings.add_wish("camera.gain", "AnalogueGain", {*controls.gain});
  }
}

void add_white_balance(Settings& settings, const CameraControls& controls) {
  if (controls.awb != white_balances().front()) {
    const auto& all = white_balances();
    const auto mode = std::find(all.begin(), all.end(), controls.awb) - all.begin();
    settings.add_wish("camera.awb", "AwbMode", {static_cast<double>(mode)});
  }
  if (!controls.awb_gains.empty()) {
    settings.add_wish("camera.awb-gains", "ColourGains", controls.awb_gains);
  }
}

}  // namespace

const std::vector<std::string>& white_balances() {
  static const std::vector<std::string> names{"auto",   "incandescent", "tungsten", "fluorescent",
                                              "indoor", "daylight",     "cloudy"};
  return names;
}

std::string first_key(const CameraControls& controls) {
  if (controls.flicker != 0) return "camera.flicker";
  if (controls.shutter) return "camera.shutter";
  if (controls.gain) return "camera.gain";
  if (controls.awb != white_balances().front()) return "camera.awb";
  if (!controls.awb_gains.empty()) return "camera.awb-gains";
  return controls.lens_position ? "camera.lens-position" : "";
}

std::vector<ControlSetting> settings_of(const std::string& camera, const CameraControls& controls,
                                        const FindControl& find) {
  Settings settings(camera, find);
  add_exposure(settings, controls);
  add_white_balance(settings, controls);
  if (controls.lens_position) {
    settings.add_wish("camera.lens-position", "AfMode", {kAfManual});
    settings.add_wish("camera.lens-position", "LensPosition", {*controls.lens_position});
  } else {  // libcamera's own default stays focused at 1 m
    settings.add_if_known("AfMode", kAfContinuous);
  }
  return settings.take();
}

double frame_duration(double framerate, const ControlRange& limits) {
  const double duration = std::round(kMicroseconds / framerate);
  return std::min(std::max(duration, limits.min), std::max(limits.min, limits.max));
}

}  // namespace lookout
