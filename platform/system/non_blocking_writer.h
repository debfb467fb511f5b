// Lines of data to a file descriptor, without ever blocking for long.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace lookout {

// Used by one thread at a time.
class NonBlockingWriter {
 public:
  // When a pipe's or terminal's reader is slow: wait for it (every frame of a file is wanted), or
  // drop the line (a live camera does not wait).
  enum class WhenFull { kWait, kDrop };

  // `name` is for messages: "stdout". `fd` stays open. `stop` is the program's: waiting ends when
  // it becomes true, and it is set when the reader has gone away, which is a clean stop.
  NonBlockingWriter(int fd, std::string name, WhenFull when_full, std::atomic<bool>& stop);

  // Writes `text` and returns true, or nothing of it. What was begun and could not be finished is
  // finished by later calls, before anything else. Throws Error(kOutput) when the system refuses
  // (no space left on device). SIGPIPE has to be ignored by the program.
  bool write(std::string_view text);

  // Calls of write() that were given up because the reader was slow.
  std::uint64_t dropped() const { return dropped_; }

 private:
  bool wait_for_room();
  std::size_t send(std::string_view text);

  int fd_;
  std::string name_;
  WhenFull when_full_;
  std::atomic<bool>& stop_;
  bool closed_ = false;  // the reader has gone away
  std::string pending_;  // the rest of a text that there was no room for
  std::uint64_t dropped_ = 0;
};

}  // namespace lookout
