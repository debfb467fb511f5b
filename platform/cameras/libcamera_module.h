// Between lookout and liblookout-libcamera.so, the module that has libcamera: every release of that
// has another ABI, so that the program must do without it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/module.h"
#include "pipeline/source.h"
#include "platform/cameras/source_options.h"

namespace lookout {

inline const char* const kLibcameraModule = "liblookout-libcamera.so";
inline const char* const kLibcameraEntry = "lookout_libcamera";

// Changes with every change of this file, of Source and of SourceOptions.
inline constexpr int kLibcameraInterface = 3;

struct LibcameraCamera {
  std::string id;     // libcamera's, the same after every start: the place on the board
  std::string model;  // the sensor's, such as "imx708"; may be empty
};

// Returned by the module's entry, `extern "C" const LibcameraModule* lookout_libcamera()`.
struct LibcameraModule {
  ModuleVersion version;  // kLibcameraInterface
  // See libcamera_source.h.
  std::vector<LibcameraCamera> (*list)();
  std::unique_ptr<Source> (*open)(const std::string& camera, const SourceOptions& options);
};

}  // namespace lookout
