#include "platform/cameras/libcamera_loader.h"

#include <fmt/format.h>

#include "pipeline/error.h"
#include "pipeline/module.h"

namespace lookout {
namespace {

const LibcameraModule& load() {
  try {
    return load_module<LibcameraModule>(kLibcameraModule, kLibcameraEntry, kLibcameraInterface);
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("CSI cameras cannot be used: {}; V4L2 cameras and files can be used",
                            error.what()));
  }
}

const LibcameraModule& libcamera() {
  static const LibcameraModule& module = load();
  return module;
}

}  // namespace

std::vector<LibcameraCamera> list_csi_cameras() { return libcamera().list(); }

std::unique_ptr<Source> open_csi_camera(const std::string& camera, const SourceOptions& options) {
  return libcamera().open(camera, options);
}

}  // namespace lookout
