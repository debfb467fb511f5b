// CSI cameras, through the module for the libcamera that is installed, which the first call loads.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/core/source.h"
#include "platform/cameras/camera_mode.h"
#include "platform/cameras/libcamera_name.h"
#include "platform/cameras/sensor_mode.h"
#include "platform/cameras/source_options.h"
#include "platform/libcamera/libcamera_module.h"

namespace lookout {

// The cameras that libcamera lists, in the order of order_cameras(): the first is csi://0. Throws
// Error(kUnsupported) when no module can be loaded, for instance since none is for the libcamera
// that is installed.
std::vector<LibcameraCamera> list_csi_cameras();

// The modes of their sensors: see list_sensor_modes(). Throws as above.
std::map<std::string, SensorModes> list_csi_modes(const ModeWish& wish);

// `camera`: see find_camera(). Throws Error(kUnsupported) as above, Error(kNoInput) when there is
// no such camera, Error(kDeviceLost) when another program has it, Error(kPermission).
std::unique_ptr<Source> open_csi_camera(const std::string& camera, const SourceOptions& options);

// The versions of libcamera that the installed IPA modules, which drive a Pi's cameras, are for.
// There is one package of these, while several libcameras can be installed. `root`: "/".
std::vector<std::string> ipa_versions(const std::filesystem::path& root);

// Loads from `folder` the first module for which that works: those for a libcamera of `ipa` first,
// then that built on this machine, then the newest. VERSION.so is the name of one, built.so that
// of the one built here. The module stays loaded. Throws Error(kUnsupported) when there is none.
const LookoutLibcamera& load_libcamera_module(const std::filesystem::path& folder,
                                              const std::vector<std::string>& ipa);

struct LoadedLibcamera {
  std::string version;  // "v0.7.1"
  std::string soname;   // the end of it: "0.7"
  std::string module;   // the file name of lookout's module: "0.7.so"
};

// Loads the module, as the functions above do. Throws Error(kUnsupported).
LoadedLibcamera load_libcamera();

// The versions in the names of shared libraries, as 0.7 in libcamera.so.0.7.1: the part that says
// which programs can load them.
std::vector<std::string> libcamera_versions(const std::vector<std::string>& file_names);

}  // namespace lookout
