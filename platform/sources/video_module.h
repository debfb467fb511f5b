// Between lookout and liblookout-video.so, the module that reads videos with FFmpeg: the program
// starts without FFmpeg's hundred libraries.
#pragma once

#include <memory>
#include <string>

#include "pipeline/source.h"
#include "platform/system/module.h"

namespace lookout {

inline const char* const kVideoModule = "liblookout-video.so";
inline const char* const kVideoEntry = "lookout_video";

// Changes with every change of this file and of Source.
inline constexpr int kVideoInterface = 2;

// Returned by the module's entry, `extern "C" const VideoModule* lookout_video()`.
struct VideoModule {
  ModuleVersion version;  // kVideoInterface
  // See video_source.h.
  std::unique_ptr<Source> (*open)(const std::string& path);
};

}  // namespace lookout
