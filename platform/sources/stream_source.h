// Frames of a video that another program writes into a pipe: on stdin or into a FIFO.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "platform/cameras/source_options.h"
#include "platform/sources/threaded_source.h"

namespace lookout {

struct StreamOptions {
  std::string path;  // of a FIFO; empty: stdin
  bool live = false;
  std::int64_t max_pixels = kDefaultMaxPixels;  // of a frame
};

// Live by choice: the newest frame wins. Otherwise every frame is delivered, in order, and the
// writer waits while frames are classified. The end of the stream is the end of the frames.
//
// Nothing is opened or read before the first call of read(), so that a stream can be looked at
// without being consumed. A thread then reads and decodes, since FFmpeg cannot be interrupted and
// continued; it also waits for a FIFO's writer.
class StreamSource : public ThreadedSource {
 public:
  // Throws Error(kUnsupported) when FFmpeg is missing.
  explicit StreamSource(const StreamOptions& options);
  // Ends the thread, within 20 ms though nothing comes.
  ~StreamSource() override { end_thread(); }

  // Throws Error(kNoInput) when the stream is no video that can be decoded, or cannot be read on.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

 private:
  void read_all();  // by the thread

  const StreamOptions options_;
  const std::string what_;  // begins a sentence
};

}  // namespace lookout
