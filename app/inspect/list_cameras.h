// lookout list-cameras: tells which cameras there are, and what they can.
#pragma once

#include <string>
#include <vector>

#include "app/options/options.h"
#include "platform/cameras/camera_nodes.h"
#include "platform/cameras/libcamera_loader.h"

namespace lookout {

struct Cameras {
  std::vector<CameraNode> nodes;     // of V4L2
  std::vector<LibcameraCamera> csi;  // csi://0, csi://1, ...
  std::string csi_problem;           // a sentence: why those could not be listed; else empty
};

// What a run with these options asks of a camera of V4L2: the model, which is loaded unless it is
// the self-test's, and the view decide which size is of use. Throws Error for a bad model.
ModeWish wish_of_run(const RunOptions& options);

// The report on this machine, with a newline at its end. Throws as above.
std::string list_cameras(const ListCamerasOptions& options);

// The same of given cameras, as text and as one JSON object. `wish`: what a mode of V4L2 is chosen
// for.
std::string to_text(const Cameras& cameras, const ModeWish& wish);
std::string to_json(const Cameras& cameras, const ModeWish& wish);

}  // namespace lookout
