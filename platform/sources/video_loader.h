// Videos, through the module that has FFmpeg, which the first call loads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/core/source.h"
#include "platform/cameras/source_options.h"
#include "platform/sources/video_module.h"

namespace lookout {

// A source of every frame of the video, as video_source.h describes it. Throws Error(kNoInput) when
// the file is not a video that can be decoded here, Error(kUnsupported) when FFmpeg or the module
// is missing or has another version.
std::unique_ptr<Source> open_video(const std::string& path,
                                   std::int64_t max_pixels = kDefaultMaxPixels);

// The same of a stream. Returns when its first frame can be decoded, or `stream.stop` is true.
std::unique_ptr<Source> open_video_stream(const VideoStream& stream, std::int64_t max_pixels);

// The same of a video on the network, for lookout-stream-decoder. Live, unless the server tells its
// length.
std::unique_ptr<Source> open_network_video(const NetworkVideo& video, std::int64_t max_pixels);

// Throws Error(kUnsupported) when videos cannot be read at all.
void check_video_module();

}  // namespace lookout
