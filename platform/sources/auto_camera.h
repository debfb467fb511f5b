// The cameras of this machine, and the choice among them for the source "auto".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "platform/cameras/camera_nodes.h"
#include "platform/cameras/libcamera_name.h"
#include "platform/cameras/sensor_mode.h"

namespace lookout {

struct Cameras {
  std::vector<CameraNode> nodes;     // V4L2 devices
  std::vector<LibcameraCamera> csi;  // csi://0, csi://1, ...
  std::string csi_problem;  // why `csi` could not be listed, as a sentence; empty: no problem
  std::map<std::string, SensorModes> csi_modes{};  // of `csi`, by id, where they were asked for
};

// Asks the drivers and libcamera, but not for `csi_modes`. No camera of libcamera may be open.
Cameras find_cameras();

// Why a CSI camera that may be there cannot be used; empty: there is no sign of one, or no problem.
std::string missed_csi(const Cameras& cameras);

struct CameraChoice {
  std::string source;   // csi://0 or /dev/video0
  std::string text;     // "csi://0 (imx708); there is also /dev/video0 (C920)"
  std::string warning;  // a CSI camera may be there, but cannot be used; empty: no
};

// The first CSI camera, else the first V4L2 camera. Throws Error(kNoInput) with the ways out when
// there is none. A pure function.
CameraChoice choose_camera(const Cameras& cameras);

}  // namespace lookout
