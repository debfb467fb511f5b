// Writes lines of text to a file descriptor and never blocks for long.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lookout {

// Opens a pipe, socket or terminal a second time with O_NONBLOCK, so that programs that share the
// first file description are not affected. If the system refuses (another user's terminal), a write
// may block although poll() promised room for a byte.
//
// Used by one thread at a time.
class NonBlockingWriter {
 public:
  // What to do when the reader is slow: wait for it (every frame of a file is wanted), or drop the
  // line (a live camera does not wait).
  enum class WhenFull { kWait, kDrop };
  // What the end of the reader is: a clean stop, as in `lookout | head`; or a failure, as when the
  // journal's stream breaks: systemd then starts a service again, with a new one.
  enum class WhenClosed { kStop, kFail };

  // `name` is for messages: "stdout". `fd` stays open and belongs to the caller. Waiting
  // ends when the program's `stop` becomes true, which a reader that has gone away sets for kStop.
  NonBlockingWriter(int fd, std::string name, WhenFull when_full, std::atomic<bool>& stop,
                    WhenClosed when_closed = WhenClosed::kStop);
  ~NonBlockingWriter();
  NonBlockingWriter(const NonBlockingWriter&) = delete;
  NonBlockingWriter& operator=(const NonBlockingWriter&) = delete;

  // Writes `text` and returns true, or drops it and returns false. If only a part fits, the rest is
  // kept and written by later calls before their text. Throws Error(kOutput) when the system
  // refuses (no space left on device), and for kFail Error(kDeviceLost), once. The program has to
  // ignore SIGPIPE.
  bool write(std::string_view text);

  // Writes the kept rest of an earlier text. Returns whether nothing is left. Throws as write().
  bool flush();

  // From then on no reader is waited for: texts for which there is no room are dropped. Nothing:
  // there is no such time.
  void wait_until(std::optional<std::chrono::steady_clock::time_point> end) { end_ = end; }

  // How long write() and flush() have waited for the reader.
  std::chrono::steady_clock::duration waited() const { return waited_; }

  // Texts that were dropped because the reader was slow.
  std::uint64_t dropped() const { return dropped_; }

 private:
  bool may_wait() const;
  bool wait_for_room();
  void wait_for_more_room();
  std::size_t send(std::string_view text);

  int fd_;
  bool own_fd_ = false;  // fd_ is ours to close
  bool socket_ = false;
  std::string name_;
  WhenFull when_full_;
  std::optional<std::chrono::steady_clock::time_point> end_;  // of waiting
  std::atomic<bool>& stop_;
  WhenClosed when_closed_;
  bool closed_ = false;  // the reader has gone away
  std::string pending_;  // the unwritten rest of a text
  std::uint64_t dropped_ = 0;
  std::chrono::steady_clock::duration waited_{};
};

// Writes the last text of a program, and gives up when the reader has not taken it after
// `time_limit`. Returns whether all of it was written. Never throws.
bool write_at_end(int fd, std::string_view text, std::chrono::milliseconds time_limit);

// Whether the descriptor is a terminal that understands control sequences: TERM names its kind, and
// not "dumb".
bool can_redraw(int fd);

}  // namespace lookout
