// The cameras of libcamera by number and name. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

struct LibcameraCamera {
  std::string id;         // libcamera's, the same after every start: the place on the board
  std::string model;      // the sensor's, such as "imx708"; may be empty
  std::size_t index = 0;  // in libcamera's own order
};

// CSI cameras in the order of rpicam-hello, where csi://0 is the first: by falling id, and without
// USB cameras, which libcamera lists too and which are V4L2 cameras here.
std::vector<LibcameraCamera> order_cameras(std::vector<LibcameraCamera> cameras);

// The index of the camera called `name`: a number, or a model or id, or a part of one. Empty when
// no camera or more than one fits.
std::optional<std::size_t> find_camera(const std::vector<LibcameraCamera>& cameras,
                                       const std::string& name);

// `0 imx708 (/base/soc/...), 1 ...`
std::string to_text(const std::vector<LibcameraCamera>& cameras);

}  // namespace lookout
