#include "platform/system/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "pipeline/core/error.h"
#include "platform/system/child_process.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kMaxWait{100};

const char* why_not_split(int result) {
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

// Runs a program to its end; `exit_status` is set when it exited by itself.
std::string run_to_end(const ProcessOptions& options, const std::function<bool()>& expired,
                       int& exit_status) {
  std::optional<ChildProcess> child;
  try {
    child.emplace(options);
  } catch (const std::system_error& error) {
    return "cannot be started: " + error.code().message();
  }
  bool ended = false;
  while (!ended && !expired()) ended = child->wait(kMaxWait);
  const int status = child->kill();
  if (!ended) return "killed: it took too long";
  if (WIFEXITED(status)) exit_status = WEXITSTATUS(status);
  return exit_status == 0 ? "" : describe_end(status);
}

// The files that posix_spawnp() tries.
std::vector<fs::path> candidates(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  std::vector<fs::path> files;
  for (std::string folder; std::getline(folders, folder, ':');) {
    files.push_back(fs::path(folder.empty() ? "." : folder) / program);
  }
  return files;
}

// Whether the child ended within the time.
bool ends_within(pid_t child, std::chrono::milliseconds limit) {
  const int fd =
      static_cast<int>(::syscall(SYS_pidfd_open, child, 0));  // glibc 2.36 lacks it in C++
  if (fd < 0) return true;                                    // an old kernel: it is waited for
  const auto end = std::chrono::steady_clock::now() + limit;
  pollfd ended{fd, POLLIN, 0};
  int result = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(end - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration()));
    result = ::poll(&ended, 1, static_cast<int>(left.count()));
  } while (result < 0 && errno == EINTR);
  ::close(fd);
  return result != 0;
}

// Returns the exit status, which is that of the Error.
int work_and_write(int fd, const std::function<std::string()>& work) {
  std::string text;
  int status = 0;
  try {
    text = work();
  } catch (const Error& error) {
    text = error.what();
    status = error.exit_status();
  } catch (const std::exception& error) {
    text = error.what();
    status = static_cast<int>(ErrorKind::kInternal);
  }
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return whole ? status : static_cast<int>(ErrorKind::kInternal);
}

}  // namespace

void check_program(const std::string& what, const std::string& program) {
  fs::path refused;
  for (const fs::path& file : candidates(program)) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (error == std::errc::permission_denied) refused = file;
    if (!fs::exists(status) || fs::is_directory(status)) continue;
    if (faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0) return;
    refused = file;
  }
  if (!refused.empty()) {
    throw Error(ErrorKind::kPermission,
                fmt::format("{}: no permission to run {}", what, refused.string()));
  }
  const bool has_place = program.find('/') != std::string::npos;
  throw Error(ErrorKind::kNoInput, fmt::format("{}: there is no program {}{}", what, program,
                                               has_place ? "" : " in PATH"));
}

std::vector<std::string> split_command(const std::string& text) {
  wordexp_t words{};
  const int result = wordexp(text.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF);
  if (result != 0) {
    if (result == WRDE_NOSPACE) wordfree(&words);
    throw Error(ErrorKind::kUsage, fmt::format("'{}': {}", text, why_not_split(result)));
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
  return run_to_end(
      {arguments, environment, {ProcessOptions::kDevNull, STDERR_FILENO, STDERR_FILENO}}, expired,
      exit_status);
}

ProcessOutput capture_process(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::function<bool()>& expired, Stderr log) {
  const MemoryFile out;
  const MemoryFile err;
  const int log_fd = log == Stderr::kCaptured ? err.fd() : STDERR_FILENO;
  const std::vector<int> descriptors{ProcessOptions::kDevNull, out.fd(), log_fd};
  ProcessOutput output;
  output.problem = run_to_end({arguments, environment, descriptors}, expired, output.status);
  output.out = out.content();
  output.err = err.content();
  return output;
}

void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ErrorKind::kInternal));
}

std::string run_in_child(const std::string& what, const std::function<std::string()>& work,
                         std::optional<std::chrono::seconds> limit) {
  const MemoryFile output;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    end_with(parent);
    // Without the destructors of globals, which belong to the parent.
    ::_exit(work_and_write(output.fd(), work));
  }
  if (child < 0) {
    throw Error(ErrorKind::kInternal, fmt::format("{} cannot be tried in a process of its own: {}",
                                                  what, std::generic_category().message(errno)));
  }
  const bool in_time = !limit || ends_within(child, *limit);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    throw Error(ErrorKind::kInternal, fmt::format("{} takes more than {} s", what, limit->count()));
  }
  if (WIFSIGNALED(status)) {
    throw Error(ErrorKind::kInternal, fmt::format("{} ends with {}", what, describe_end(status)));
  }
  std::string text = output.content();
  if (WEXITSTATUS(status) != 0) throw Error(static_cast<ErrorKind>(WEXITSTATUS(status)), text);
  return text;
}

}  // namespace lookout
