// lookout list-cameras: tells which cameras there are, and what they can.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"
#include "platform/camera_nodes.h"

namespace lookout {

// The report on this machine, with a newline at its end.
std::string list_cameras(const ListCamerasOptions& options);

// The same of given nodes, as text and as one JSON object. `wish`: what a mode is chosen for.
std::string cameras_as_text(const std::vector<CameraNode>& nodes, const ModeWish& wish);
std::string cameras_as_json(const std::vector<CameraNode>& nodes, const ModeWish& wish);

}  // namespace lookout
