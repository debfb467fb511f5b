// A process that works for those who teach, as whoever waits for it sees it.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/wake_event.h"
#include "platform/system/child_process.h"

namespace lookout {

// A pipe, whose ends no other program inherits.
class Pipe {
 public:
  Pipe();  // throws std::system_error
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_reader() { close_end(ends_[0]); }
  void close_writer() { close_end(ends_[1]); }

 private:
  static void close_end(int& end);

  std::array<int, 2> ends_{-1, -1};
};

// Replaces what the file has. Throws std::system_error.
void rewrite(const MemoryFile& file, std::string_view bytes);

// Used by one thread at a time. The process is killed with this.
class TeachChild {
 public:
  enum class Wait { kLine, kEnded, kCancelled, kLate };

  // `input` becomes its stdin, `more` its descriptors from 3 on. Throws std::system_error, and
  // Error when there is no memory.
  TeachChild(const std::vector<std::string>& command, int input, const std::vector<int>& more = {});

  // Waits for a line of its stdout, or until `wake` is woken. A line that is too long is an end.
  // `patience`: for each part of it; nothing: for ever.
  Wait read(std::string& line, const WakeEvent& wake,
            std::optional<std::chrono::milliseconds> patience = std::nullopt);

  // Waits for its end, and kills it if that does not come. Returns how it ended, as the end of a
  // sentence.
  std::string end();

 private:
  MemoryFile errors_;
  Pipe output_;
  std::string text_;                     // that was read and is no whole line
  std::optional<ChildProcess> process_;  // last: it gets the descriptors of the others
};

}  // namespace lookout
