// Other programs: started without a shell, and never for longer than they may.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lookout {

// Splits a command into the program and its arguments as wordexp(3) does: blanks separate, '...',
// "..." and \ quote, ~ and set variables are expanded, *, ? and [ ] name files if there are any.
// Nothing is run for that. Throws Error(kUsage) with a sentence when nothing is left, a quote is
// not closed, a variable is not set, or what only a shell can do stands outside of quotes: | & ; <
// > ( ) { } $(...).
std::vector<std::string> split_command(const std::string& text);

// Runs a program until it ends or `expired` returns true, which is asked every 100 ms; then, and
// when it ended but left something running, its process group is killed. Nothing of it remains, no
// zombie either.
//
// `arguments`: the program, found in PATH, and what it gets. `environment`: NAME=value, in place of
// what the calling process has of these names; what systemd said to the caller alone is left out.
// The program reads nothing from stdin, writes both stdout and stderr to the caller's stderr, has
// no other descriptor, no signal blocked and none ignored that the caller ignores for itself
// (SIGPIPE).
//
// Returns nothing when it exited with status 0, else how it ended: "exit status 3", "killed: it
// took too long", "Killed (signal 9)", "cannot be started: No such file or directory".
std::string run_process(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment,
                        const std::function<bool()>& expired);

struct ProcessOutput {
  std::string out;      // what it wrote to stdout,
  std::string err;      // and to stderr
  int status = -1;      // its exit status; -1: it did not exit by itself
  std::string problem;  // as run_process() returns it
};

// Where a captured program writes its log: into ProcessOutput, or to the caller's stderr.
enum class Stderr { kCaptured, kInherited };

// The same, but what the program writes is kept. Throws Error(kInternal) when that is not possible.
ProcessOutput capture_process(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::function<bool()>& expired,
                              Stderr log = Stderr::kCaptured);

}  // namespace lookout
