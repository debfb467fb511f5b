#include "platform/sources/video_module.h"

#include <fmt/format.h>

#include <string_view>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

// The module is there, but a library that it needs is not.
bool is_ffmpeg_missing(const Error& error) {
  const std::string_view sentence = error.what();
  return sentence.find("libav") != std::string_view::npos ||
         sentence.find("libsw") != std::string_view::npos;
}

const VideoModule& load() {
  try {
    return load_module<VideoModule>(kVideoModule, kVideoEntry, kVideoInterface);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("videos cannot be read: {}{}", error.what(),
                                          is_ffmpeg_missing(error) ? " (apt install ffmpeg)" : ""));
  }
}

const VideoModule& video_module() {
  static const VideoModule& module = load();
  return module;
}

const VideoModule& module_for(const std::string& path) {
  try {
    return video_module();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} is no picture, and {}", path, error.what()));
  }
}

}  // namespace

std::unique_ptr<Source> open_video(const std::string& path, std::int64_t max_pixels) {
  return module_for(path).open(path, max_pixels);
}

std::unique_ptr<Source> open_video_stream(const VideoStream& stream, std::int64_t max_pixels) {
  return video_module().open_stream(stream, max_pixels);
}

std::unique_ptr<Source> open_network_video(const NetworkVideo& video, std::int64_t max_pixels) {
  return video_module().open_network(video, max_pixels);
}

void check_video_module() { video_module(); }

}  // namespace lookout
