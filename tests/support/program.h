// Runs the program under test as a user would.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace lookout {

struct ProgramResult {
  int status = -1;  // exit status, or 128 + signal
  std::string out;
  std::string err;
};

// A started `lookout`, with stdout and stderr in files of its own.
class Program {
 public:
  struct Options {
    std::vector<std::string> environment;  // "NAME=value", besides the test's own
    std::string stdout_path;               // a file or device instead of a temporary file
    int stdout_fd = -1;                    // a descriptor instead
    unsigned int user = 0;                 // != 0: run as this user
    bool ignore_sigchld = false;           // start it with that signal ignored
    int stderr_fd = -1;                    // a descriptor instead of a temporary file
    std::vector<int> closed;               // start it without these descriptors
  };

  Program(std::vector<std::string> arguments, const Options& options);
  explicit Program(std::vector<std::string> arguments) : Program(std::move(arguments), Options()) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  // The content of the files so far.
  std::string out() const;
  std::string err() const;
  // Returns when stdout or stderr holds `text`, or false when the program ended before.
  bool wait_for(const std::string& text);
  // Waits for the end.
  ProgramResult finish();

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  bool ended_ = false;
  TempDir directory_;

  bool poll_end(bool block);
};

// Starts and finishes.
ProgramResult run_lookout(const std::vector<std::string>& arguments);
ProgramResult run_lookout(const std::vector<std::string>& arguments,
                          const Program::Options& options);

}  // namespace lookout
