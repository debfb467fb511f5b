#include "platform/sources/video_loader.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "pipeline/error.h"
#include "platform/sources/video_module.h"

namespace lookout {
namespace {

const VideoModule& load(const std::string& path) {
  try {
    return load_module<VideoModule>(kVideoModule, kVideoEntry, kVideoInterface);
  } catch (const Error& error) {
    spdlog::debug("videos cannot be read: {}", error.what());
    throw Error(ErrorKind::kNoInput,
                fmt::format("{} is neither a picture nor a video that can be decoded; for videos, "
                            "install FFmpeg (apt install ffmpeg)",
                            path));
  }
}

}  // namespace

std::unique_ptr<Source> open_video(const std::string& path) { return load(path).open(path); }

}  // namespace lookout
