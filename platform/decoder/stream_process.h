// Videos of the network are decoded in a process of its own: lookout-stream-decoder, seen from
// lookout.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "pipeline/core/error.h"
#include "pipeline/core/source.h"
#include "platform/decoder/decoder_child.h"
#include "platform/decoder/stream_network.h"
#include "platform/decoder/stream_protocol.h"

namespace lookout {

struct StreamProcessOptions {
  std::filesystem::path program;  // empty: lookout-stream-decoder of this build
  std::string url;                // with the user name and password
  std::string shown;              // without them; begins sentences
  bool udp = false;               // for the packets of RTSP, in place of TCP
  std::int64_t max_pixels = 0;    // of a frame
  // To connect and find the video; and without any data.
  std::chrono::milliseconds timeout{0};
  // After that, for the process itself to say so.
  std::chrono::milliseconds grace{2'000};
  // Once true, all waits end within 20 ms, and the source's time is over. Outlives the source.
  const std::atomic<bool>* stop = nullptr;
};

// One process, which has this video and nothing else: no file and no network but the connections
// that StreamNetwork makes for it, no command line and no environment with a secret. Its memory,
// its descriptors and its system calls are limited (decoder_sandbox.h). What comes from it is
// checked. One that ends, answers nonsense or is late is over: the next one starts from the
// beginning.
//
// Used by the thread that made it, with which the process ends.
class StreamProcess : public Source {
 public:
  // Starts it and waits until the video is open. Throws Error(kNoInput) when there is no video that
  // can be decoded or the process ends, Error(kPermission) when the camera refuses,
  // Error(kUnsupported) when the program or FFmpeg is missing.
  explicit StreamProcess(const StreamProcessOptions& options);
  StreamProcess(const StreamProcess&) = delete;
  StreamProcess& operator=(const StreamProcess&) = delete;

  // Its name is `shown`.
  const SourceInfo& info() const override { return info_; }

  // Waits for the next frame however long the process may take. Throws Error(kNoInput) as above,
  // and when the connection breaks off.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

  // Makes the connections that the process waits for. To be called while nobody reads.
  void serve();

  pid_t pid() const { return process_.pid(); }

 private:
  void send_order() const;
  void open();
  StreamMessage next_message();
  void check_report(int filter_error) const;
  void log(const StreamMessage& message);
  void take(const StreamMessage& message, Frame& frame);
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_with(const StreamMessage& message) const;
  [[noreturn]] void fail_ended();

  const StreamProcessOptions options_;
  SourceInfo info_;
  bool started_ = false;
  int lines_ = 0;  // of warnings that it had logged
  Clock::time_point last_captured_;
  std::int64_t last_media_time_ = 0;  // ns
  StreamNetwork network_;
  SocketPair requests_;
  SealedMemory pixels_;
  DecoderChild process_;  // last: it gets the descriptors of the others
};

}  // namespace lookout
