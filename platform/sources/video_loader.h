// Videos, through the module that has FFmpeg, which the first call loads.
#pragma once

#include <memory>
#include <string>

#include "pipeline/source.h"

namespace lookout {

// A source of every frame of the video, as video_source.h describes it. Throws Error(kNoInput) when
// the file is not a video that can be decoded here, for instance because FFmpeg is not installed.
std::unique_ptr<Source> open_video(const std::string& path);

}  // namespace lookout
