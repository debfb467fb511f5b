// What the user sets of a CSI camera's exposure, color and focus, as controls of libcamera. Pure
// functions. Names and units are those of rpicam-apps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

struct CameraControls {
  int flicker = 0;                      // Hz of the lamps' mains, 50 or 60; 0: ignored
  std::optional<double> shutter;        // exposure time in us; empty: automatic
  std::optional<double> gain;           // of the sensor; empty: automatic
  std::string awb = "auto";             // white balance, one of white_balances()
  std::vector<double> awb_gains;        // red, blue; empty: automatic
  std::optional<double> lens_position;  // dioptres, 0: infinity; empty: continuous autofocus
};

// The white balances that `awb` can be, in libcamera's order.
const std::vector<std::string>& white_balances();

// The first key of [camera] that is set, as "camera.gain"; empty: none.
std::string first_key(const CameraControls& controls);

// A control by libcamera's name.
struct ControlSetting {
  std::string name;
  std::vector<double> values;
};

// The range of a control that the camera has, else nothing.
struct ControlRange {
  double min = 0;
  double max = 0;
};
using FindControl = std::function<std::optional<ControlRange>(const std::string& name)>;

// The controls to set at the start: those of `controls`, and continuous autofocus where the camera
// has it. Throws Error(kUnsupported), with the key, for one whose control the camera has not and
// for a value out of its range. `camera` is for messages.
std::vector<ControlSetting> settings_of(const std::string& camera, const CameraControls& controls,
                                        const FindControl& find);

// The frame duration in us nearest to `framerate`, within the camera's limits.
double frame_duration(double framerate, const ControlRange& limits);

}  // namespace lookout
