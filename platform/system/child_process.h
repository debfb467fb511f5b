// Starts another program without a shell. All code that starts programs uses this.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

struct ProcessOptions {
  static constexpr int kDevNull = -1;

  std::vector<std::string> arguments;    // the program, found in PATH, and its arguments
  std::vector<std::string> environment;  // NAME=value, in place of the caller's variables
  std::vector<int> descriptors;          // the i-th one becomes descriptor i: stdin, stdout, ...
};

// The program has a process group of its own. It inherits no descriptors except `descriptors`, no
// blocked or ignored signals (SIGPIPE, SIGXFSZ), and none of the variables with which systemd
// identifies a service.
//
// Used by one thread at a time.
class ChildProcess {
 public:
  // Throws std::system_error when the program cannot be started.
  explicit ChildProcess(const ProcessOptions& options);
  // Kills it as kill() does.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits at most `timeout` for its end. Returns whether it has ended.
  bool wait(std::chrono::milliseconds timeout) const;

  // Sends SIGKILL to it and to all of its group, and does not wait for the end.
  void send_kill() const;

  // As send_kill(), then reaps the process, so that no zombie remains. Returns its wait status.
  // Waits at most a second: a process that is blocked in a driver may not end.
  int kill();

  // -1 when it was reaped.
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;  // -1: reaped
  int fd_ = -1;     // readable when the process has ended
  int status_ = 0;
};

// All that a file has, whatever its offset is.
std::string content_of_descriptor(int descriptor);

// A nameless file in memory for the output of a program. Throws Error(kInternal).
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  std::string content() const { return content_of_descriptor(fd_); }
  // As first_line(), and of the first 300 bytes.
  std::string first_line() const;

 private:
  int fd_;
};

// "exit status 3", "Killed (signal 9)"
std::string describe_end(int wait_status);

}  // namespace lookout
