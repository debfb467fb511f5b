// Frames of a camera on the network, or of a video on a web server.
#pragma once

#include <chrono>
#include <string>

#include "platform/cameras/source_options.h"
#include "platform/decoder/stream_process.h"
#include "platform/sources/threaded_source.h"

namespace lookout {

// `shown` and `stop` are the source's affair; max_pixels is kDefaultMaxPixels, timeout 10 s.
struct NetworkOptions : StreamProcessOptions {
  NetworkOptions() {
    max_pixels = kDefaultMaxPixels;
    timeout = std::chrono::seconds(10);
  }

  std::string credentials;  // file with USER:PASSWORD; empty: none, or they are in the address
};

// Live: the newest frame wins. A video whose length the server tells is a file: not live, every
// frame is delivered in order, and its end is the end of the frames.
//
// A process of its own reads and decodes (StreamProcess), for which a thread of this one connects;
// when it ends, the camera is lost, and the video of a file is over with an error. The address is
// shown as shown_url() does, in errors and in info(), whose name is the host.
class NetworkSource : public ThreadedSource {
 public:
  // Returns at once. Throws the errors of read_input() for the file of credentials, and those of
  // with_credentials().
  explicit NetworkSource(const NetworkOptions& options);
  // Ends the thread, within about 100 ms unless it looks up a host's name.
  ~NetworkSource() override { end_thread(); }

  // Throws Error(kNoInput) when the camera cannot be reached within options.timeout or sends no
  // video that can be decoded, Error(kPermission) when it refuses, Error(kUnsupported) when FFmpeg
  // is missing.
  void wait_until_connected();

  // Until the camera is connected, info() has only the name. Throws the errors of
  // wait_until_connected(), and Error(kDeviceLost) when a live stream ends or breaks off.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

  // False until the camera is connected.
  bool online() const override { return connected_; }

 private:
  // By the thread.
  void read_all();
  void read_live(StreamProcess& source);
  void read_file(StreamProcess& source);

  const StreamProcessOptions options_;
  bool connected_ = false;
  Latest<SourceInfo> opened_;  // the only element: of the connection
};

}  // namespace lookout
