// What lookout-decoder and lookout-stream-decoder have in common, seen from lookout: a process that
// is given work through a socket, writes pixels into memory that both have, and is killed.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/system/child_process.h"

namespace lookout {

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

// Copies `size` bytes, from `begin` on, of memory that the process writes. With pread(): a mapping
// would deliver SIGBUS where memory is short. False when they cannot be read.
bool read_pixels(int fd, std::int64_t begin, unsigned char* pixels, std::int64_t size);

// How a process ended.
struct ChildEnd {
  int status = 0;      // wait(2)'s
  std::string errors;  // the first line that it wrote to stderr

  std::string text() const;  // both
};

// One process. Used by the thread that made it, with which the process ends.
class DecoderChild {
 public:
  // The process gets the socket as descriptor 0, a file for its errors as 2, and `further` from 3
  // on, which outlive it. Throws std::system_error, and Error(kInternal) without memory.
  DecoderChild(const std::filesystem::path& program, const std::vector<int>& further);

  int socket() const { return socket_.ours(); }

  // False when it has ended.
  template <typename Message>
  bool send(const Message& message) const {
    return ::send(socket(), &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           sizeof message;
  }

  // Kills it, unless it has ended.
  ChildEnd end();

  pid_t pid() const { return process_.pid(); }

 private:
  SocketPair socket_;
  MemoryFile errors_;
  ChildProcess process_;  // last: it gets the descriptors of the others
};

}  // namespace lookout
