// Reads a pipe for FFmpeg without waiting for it past a stop. Part of liblookout-video.so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

struct AVIOContext;

namespace lookout {

// Reads `fd`, which has to be open while this lives, in order and without seeking. All reads fail
// with AVERROR_EXIT within 20 ms once `stop` is true, also while nothing comes.
class StreamInput {
 public:
  StreamInput(int fd, const std::atomic<bool>& stop);
  ~StreamInput();
  StreamInput(const StreamInput&) = delete;
  StreamInput& operator=(const StreamInput&) = delete;

  AVIOContext* context() const { return context_.get(); }
  // Whether the writer closed its end.
  bool at_end() const { return at_end_; }
  // Read so far.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(AVIOContext* context) const;
  };

  static int read(void* self, std::uint8_t* buffer, int size);
  int read(std::uint8_t* buffer, int size);

  const int fd_;
  const std::atomic<bool>& stop_;
  bool at_end_ = false;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<AVIOContext, Free> context_;
};

}  // namespace lookout
