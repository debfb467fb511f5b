#include "platform/system/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "pipeline/error.h"

namespace lookout {
namespace {

constexpr int kLongestWaitMs = 100;

// What sd_notify() of a child would be taken for ours by.
constexpr std::string_view kOurs[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};

std::string message(int error) { return std::generic_category().message(error); }

const char* what_is_wrong(int result) {
  switch (result) {
    case WRDE_BADCHAR:
      return "| & ; < > ( ) { } and line ends need quotes, or a shell: sh -c '...'";
    case WRDE_BADVAL:
      return "it names a variable that is not set; to leave it to a shell: sh -c '... $NAME ...'";
    case WRDE_CMDSUB:
      return "$(...) and `...` need a shell: sh -c '...'";
    case WRDE_SYNTAX:
      return "a quote or a bracket is not closed";
    default:
      return "it is too long";
  }
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::vector<std::string> merged(const std::vector<std::string>& additions) {
  std::vector<std::string> all = additions;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name = name_of(*variable);
    const bool ours = std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs);
    const bool replaced =
        std::any_of(additions.begin(), additions.end(),
                    [name](const std::string& addition) { return name_of(addition) == name; });
    if (!ours && !replaced) all.emplace_back(*variable);
  }
  return all;
}

// For functions that want char* and change nothing.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// What a program writes goes to these descriptors.
struct Outputs {
  int out = STDERR_FILENO;
  int err = STDERR_FILENO;
};

// Returns 0 or the error's number.
int start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
          const Outputs& outputs, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, outputs.out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, outputs.err, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  const std::vector<std::string> all = merged(environment);
  const int error = posix_spawnp(&pid, arguments[0].c_str(), &files, &attributes,
                                 pointers(arguments).data(), pointers(all).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Waits for the end of a child without reaping it, and returns whether it came before `expired`.
bool wait_for_end(pid_t pid, const std::function<bool()>& expired) {
  // glibc 2.36 declares pidfd_open() for C alone.
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return false;
  bool ended = false;
  while (!ended && !expired()) {
    pollfd end{fd, POLLIN, 0};
    ended = poll(&end, 1, kLongestWaitMs) > 0;
  }
  close(fd);
  return ended;
}

// Runs a program to its end; `exit_status` is set when it exited by itself.
std::string run_to_end(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, const Outputs& outputs,
                       const std::function<bool()>& expired, int& exit_status) {
  pid_t pid = -1;
  if (const int error = start(arguments, environment, outputs, pid); error != 0) {
    return "cannot be started: " + message(error);
  }
  const bool in_time = wait_for_end(pid, expired);
  // Before the child is reaped nobody else can have its number.
  kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return "killed: it took too long";
  if (WIFSIGNALED(status)) {
    return fmt::format("{} (signal {})", strsignal(WTERMSIG(status)), WTERMSIG(status));
  }
  exit_status = WEXITSTATUS(status);
  return exit_status == 0 ? "" : fmt::format("exit status {}", exit_status);
}

// A file without a name, in memory.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("output", MFD_CLOEXEC)) {
    if (fd_ < 0) {
      throw Error(ErrorKind::kInternal, "no memory for a program's output: " + message(errno));
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }

  std::string content() const {
    std::string text;
    std::array<char, 4096> part{};
    ssize_t count = 0;
    while ((count = pread(fd_, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int fd_;
};

}  // namespace

std::vector<std::string> split_command(const std::string& text) {
  wordexp_t words{};
  const int result = wordexp(text.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF);
  if (result != 0) {
    if (result == WRDE_NOSPACE) wordfree(&words);
    throw Error(ErrorKind::kUsage, fmt::format("'{}': {}", text, what_is_wrong(result)));
  }
  std::vector<std::string> split(words.we_wordv, words.we_wordv + words.we_wordc);
  wordfree(&words);
  if (split.empty() || split[0].empty()) {
    throw Error(ErrorKind::kUsage, fmt::format("'{}' names no program", text));
  }
  return split;
}

std::string run_process(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment,
                        const std::function<bool()>& expired) {
  int exit_status = -1;
  return run_to_end(arguments, environment, Outputs(), expired, exit_status);
}

ProcessOutput capture_process(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::function<bool()>& expired, Stderr log) {
  const MemoryFile out;
  const MemoryFile err;
  const Outputs outputs{out.fd(), log == Stderr::kCaptured ? err.fd() : STDERR_FILENO};
  ProcessOutput output;
  output.problem = run_to_end(arguments, environment, outputs, expired, output.status);
  output.out = out.content();
  output.err = err.content();
  return output;
}

}  // namespace lookout
