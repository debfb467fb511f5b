// Between lookout and liblookout-video.so, the module that reads videos with FFmpeg: the program
// starts without FFmpeg's hundred libraries. The first call of a function below loads it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/core/module.h"
#include "pipeline/core/source.h"
#include "platform/cameras/source_options.h"

namespace lookout {

inline const char* const kVideoModule = "liblookout-video.so";
inline const char* const kVideoEntry = "lookout_video";

// Changes with every change of this file and of Source.
inline constexpr int kVideoInterface = 4;

// A video that another program writes.
struct VideoStream {
  int fd = -1;       // open while the source lives
  std::string name;  // in errors: "the stream on stdin"
  // Once true, all reads end within 20 ms and the source's time is over. Outlives the source.
  const std::atomic<bool>* stop = nullptr;
  bool live = false;  // frames are decoded with the least delay
};

// A video on the network, for lookout-stream-decoder.
struct NetworkVideo {
  std::string url;                          // with the user name and password
  std::string shown;                        // without them; begins sentences
  bool udp = false;                         // for the packets of RTSP, in place of TCP
  std::chrono::milliseconds timeout{0};     // to connect and find the video; and without any data
  const std::atomic<bool>* stop = nullptr;  // as VideoStream's
};

// Returned by the module's entry, `extern "C" const VideoModule* lookout_video()`. `max_pixels`: of
// a frame.
struct VideoModule {
  ModuleVersion version;  // kVideoInterface
  // See video_source.h.
  std::unique_ptr<Source> (*open)(const std::string& path, std::int64_t max_pixels);
  std::unique_ptr<Source> (*open_stream)(const VideoStream& stream, std::int64_t max_pixels);
  std::unique_ptr<Source> (*open_network)(const NetworkVideo& video, std::int64_t max_pixels);
};

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
