// One process of the decoder, with the memory and the socket that it shares with lookout.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <opencv2/core/mat.hpp>
#include <string>
#include <string_view>

#include "pipeline/core/frame.h"
#include "platform/decoder/decoder_protocol.h"
#include "platform/pictures/decoded_picture.h"
#include "platform/system/child_process.h"

namespace lookout {

// For the environment of a decoder: OpenBLAS, which Debian's OpenCV brings, would start threads.
inline constexpr const char* kNoBlasThreads = "OPENBLAS_NUM_THREADS=1";

// Two ends of a socket that keeps messages apart. Throws std::system_error.
class SocketPair {
 public:
  SocketPair();
  ~SocketPair();
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  int ours() const { return ends_[0]; }
  int theirs() const { return ends_[1]; }
  void close_theirs();

 private:
  std::array<int, 2> ends_{};
};

// Memory of `size` bytes that nobody can let grow or cut. Throws std::system_error.
class SealedMemory {
 public:
  explicit SealedMemory(std::int64_t size);
  ~SealedMemory();
  SealedMemory(const SealedMemory&) = delete;
  SealedMemory& operator=(const SealedMemory&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

// Believes nothing: what the process does to its memory and its socket harms nobody. Used by the
// thread that made it, with which the process ends.
class DecoderChild {
 public:
  // kUnread: it ended before it took the order.
  enum class Wait { kMessage, kEnded, kUnread, kLate, kCancelled, kNonsense };

  // Starts `program` for pictures of at most `max_pixels`. Throws std::system_error, and
  // Error(kInternal) without memory.
  DecoderChild(const std::filesystem::path& program, std::int64_t max_pixels);

  // Whether it lives and has sent nothing.
  bool is_quiet() const;

  // False when it has ended, or there is no memory for the file.
  bool send_order(std::string_view bytes, const DecodeLimits& limits);

  // The number of the last order; 0: there was none.
  std::uint64_t number() const { return orders_; }

  // Wait for one message until `end`, and ask `limits.cancelled` 20 times a second.
  Wait receive(DecoderReport& report, Clock::time_point end, const DecodeLimits& limits) const;
  Wait receive(DecodeAnswer& answer, Clock::time_point end, const DecodeLimits& limits) const;

  // Copies the output, as large as `bgr` is. False when it cannot be read.
  bool take_pixels(cv::Mat& bgr) const;

  // Frees the memory of a large picture.
  void free_memory() const;

  // Kills it. Returns its wait status.
  int kill() { return process_.kill(); }

  // The first line that it wrote to stderr.
  std::string errors() const { return errors_.first_line(); }

  pid_t pid() const { return process_.pid(); }

 private:
  Wait receive(void* message, std::size_t size, Clock::time_point end,
               const DecodeLimits& limits) const;

  std::uint64_t orders_ = 0;
  SocketPair socket_;
  MemoryFile input_;
  MemoryFile errors_;
  SealedMemory output_;
  ChildProcess process_;  // last: it gets the descriptors of the others
};

}  // namespace lookout
