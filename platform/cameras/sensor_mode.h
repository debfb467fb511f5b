// The modes of a CSI camera's sensor, and the choice among them. Pure functions.
//
// Left alone, libcamera takes the mode that is nearest to the size of the picture: with a small
// picture, on most sensors one that shows only the middle of the field of view.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lookout {

struct SensorMode {
  int width = 0;   // pixels
  int height = 0;  // pixels
  int bits = 0;    // of a pixel; 0: unknown
};

bool operator==(const SensorMode& a, const SensorMode& b);

struct SensorSize {
  int width = 0;  // pixels
  int height = 0;
};

// The mode for a picture of the size `output`: the smallest with at least half of the sensor's
// `active` pixels each way, which is the whole field of view where sensors add up 2x2 pixels (the
// rule of rpicam-apps), and at least `output`. Among equal sizes the one with the most bits wins,
// of at most 12: more cost bandwidth and show nothing in 8 bits. Empty without modes.
std::optional<SensorMode> choose_sensor_mode(const std::vector<SensorMode>& modes,
                                             const SensorSize& active, const SensorSize& output);

// A mode as the camera granted it.
struct GrantedSensorMode {
  SensorMode mode;
  double max_fps = 0;       // 0: unknown, taken for fast enough
  double field_width = 0;   // 0..1 of the sensor's width that the picture can show; 0: unknown
  double field_height = 0;  // 0..1 of its height
};

bool reaches(const GrantedSensorMode& mode, double framerate);

// 0..1 of the sensor's area that the picture can show; 0: unknown.
double field_of(const GrantedSensorMode& mode);

// The first mode, which is that of choose_sensor_mode(), if it reaches `framerate`. Else, among
// those that reach it, the one that shows the largest field, and of these the first; if none does,
// the fastest. `modes`: at least one.
GrantedSensorMode choose_fast_mode(const std::vector<GrantedSensorMode>& modes, double framerate);

// The modes of a camera, and the one that a run takes.
struct SensorModes {
  std::vector<GrantedSensorMode> modes;  // in libcamera's order; empty: it offers no choice
  std::optional<SensorMode> taken;       // empty: libcamera chooses
  std::string problem;                   // why they are not known; empty: none
};

// "1640x1232, 10 bit".
std::string to_text(const SensorMode& mode);

// "the whole field of view", "59 % of the field's width and 44 % of its height"; empty: unknown.
std::string field_to_text(const GrantedSensorMode& mode);

// Both, as "1640x1232, 10 bit, the whole field of view".
std::string to_text(const GrantedSensorMode& mode);

}  // namespace lookout
