// A program that was started, without a shell. The only place that starts one.
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
  std::vector<int> descriptors;          // the i-th one becomes descriptor i, from stdin on
};

// The program has no other descriptors than those, no signal blocked or ignored that the caller
// blocks or ignores for itself (SIGPIPE), none of the variables by which systemd knows a service,
// and a process group of its own.
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

  // Likewise, and reaps it: no zombie remains. Returns its wait status. Does not wait when it has
  // ended before; otherwise a second at most, for a process that a device holds does not end then.
  int kill();

 private:
  pid_t pid_ = -1;  // -1: reaped
  int fd_ = -1;     // readable when the process has ended
  int status_ = 0;
};

// A file without a name, in memory, for what a program writes. Throws Error(kInternal).
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  std::string content() const;

 private:
  int fd_;
};

// "exit status 3", "Killed (signal 9)"
std::string describe_end(int wait_status);

}  // namespace lookout
