// lookout list-cameras: the cameras, with their formats, sizes and rates or the modes of their
// sensors, and the mode that a run chooses.
#pragma once

#include <string>

#include "app/options/options.h"
#include "app/report/report.h"
#include "platform/cameras/camera_mode.h"
#include "platform/sources/auto_camera.h"

namespace lookout {

// The wish that a run with these options has of a camera. The model and the view decide which
// size is useful; the model's file is read. Throws Error for a bad model.
ModeWish wish_of_run(const RunOptions& options);

// The report on this machine, with a newline at its end. Throws as above.
std::string list_cameras(const ListCamerasOptions& options);

// Refers to `cameras`. `wish` decides which mode of a V4L2 camera is chosen.
Report make_report(const Cameras& cameras, const ModeWish& wish);

}  // namespace lookout
