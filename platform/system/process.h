// Runs other programs, without a shell and within a time limit, and functions in a process of
// their own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

// Splits a command into the program and its arguments as wordexp(3) does: blanks separate, '...',
// "..." and \ quote, ~ and set variables are expanded, *, ? and [ ] name files if there are any.
// Nothing is executed. Throws Error(kUsage) with a sentence when nothing is left, a quote is not
// closed, a variable is not set, or something that needs a shell is not quoted: | & ; < > ( ) { }
// $(...).
std::vector<std::string> split_command(const std::string& text);

// Checks, without starting it, that a program exists and may be run; one without a slash is looked
// for in PATH. `what` begins the sentence: "--on-change". Throws Error(kNoInput) or
// Error(kPermission).
void check_program(const std::string& what, const std::string& program);

// Runs a program until it ends or `expired`, which is called every 100 ms, returns true. Then its
// process group is killed, also when it ended by itself and left something running.
//
// `arguments` and `environment` are those of ProcessOptions. The program's stdin is /dev/null; both
// its stdout and stderr are the caller's stderr.
//
// Returns an empty text when it exited with status 0, else how it ended: "exit status 3", "killed:
// it took too long", "Killed (signal 9)", "cannot be started: No such file or directory".
std::string run_process(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment,
                        const std::function<bool()>& expired);

struct ProcessOutput {
  std::string out;      // its whole stdout
  std::string err;      // its whole stderr
  int status = -1;      // exit status; -1: it did not exit by itself
  std::string problem;  // the text that run_process() returns
};

// Where a captured program writes its log: into ProcessOutput, or to the caller's stderr.
enum class Stderr { kCaptured, kInherited };

// As run_process(), but returns the program's output. Throws Error(kInternal) when there is no
// memory for it.
ProcessOutput capture_process(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::function<bool()>& expired, Stderr log = Stderr::kCaptured);

// Has the system kill this process when the thread that started it ends, and ends it at once when
// `parent` has ended already: work that never returns must not outlive the program that waits for
// it.
void end_with(pid_t parent);

// Calls `work` in a child process and returns the text that it returned: the libraries that it
// loads stay out of this process, and it may crash. It is killed when the calling thread ends. Call
// it before this process starts threads that `work` needs. Throws the Error that `work` throws, as
// one of the same kind, and Error(kInternal) when it throws something else, when the child crashes,
// "`what` ends with Illegal instruction (signal 4)", and when it does not end within `limit`.
std::string run_in_child(const std::string& what, const std::function<std::string()>& work,
                         std::optional<std::chrono::seconds> limit = std::nullopt);

}  // namespace lookout
