// Connects FFmpeg to a camera on the network. Part of liblookout-video.so.
#pragma once

#include <memory>
#include <string>

#include "pipeline/core/error.h"
#include "pipeline/core/frame.h"
#include "platform/sources/video_module.h"

extern "C" {
#include <libavformat/avio.h>
}

struct AVDictionary;

namespace lookout {

// Used by lookout-stream-decoder, in which connections and names are lookout's affair
// (stream_decoder_main.cpp). Every wait of FFmpeg's ends within about 100 ms once `video.stop` is
// true, and when nothing comes for `video.timeout`, which starts again with each expect_data().
// Only the search for the name of a host cannot be interrupted: it takes as long as the resolver's
// own limits allow.
class NetworkInput {
 public:
  explicit NetworkInput(const NetworkVideo& video);
  NetworkInput(const NetworkInput&) = delete;
  NetworkInput& operator=(const NetworkInput&) = delete;

  bool is_rtsp() const { return is_rtsp_; }
  AVIOInterruptCB interrupt();

  // Asks for an address by HTTP or HTTPS. The caller closes the result. Throws error().
  AVIOContext* open_http();
  // Adds to the options of an RTSP demuxer.
  void set_rtsp(AVDictionary** options) const;

  // Begins a wait.
  void expect_data() { deadline_ = Clock::now() + video_.timeout; }

  // The sentence for an error of FFmpeg's.
  Error error(int status) const;

 private:
  bool is_over() const;

  const NetworkVideo video_;
  const bool is_rtsp_;
  Clock::time_point deadline_;
};

}  // namespace lookout
