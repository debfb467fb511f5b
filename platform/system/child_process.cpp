#include "platform/system/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>

#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kMaxKillTime{1};

// A child with these could notify systemd in our name.
constexpr std::string_view kOurs[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};

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

// For functions that take char* and change nothing.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// The descriptors for posix_spawn(), and the copies that it needs until then.
class FileActions {
 public:
  explicit FileActions(const std::vector<int>& descriptors) {
    posix_spawn_file_actions_init(&actions_);
    const auto count = static_cast<int>(descriptors.size());
    for (int target = 0; target < count; ++target) {
      const int fd = descriptors[static_cast<std::size_t>(target)];
      if (fd == ProcessOptions::kDevNull) {
        posix_spawn_file_actions_addopen(&actions_, target, "/dev/null", O_RDWR, 0);
        continue;
      }
      // Above the targets, so that none is overwritten before it is moved.
      copies_.push_back(fcntl(fd, F_DUPFD_CLOEXEC, count));
      posix_spawn_file_actions_adddup2(&actions_, copies_.back(), target);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions_, count);
  }
  ~FileActions() {
    for (const int copy : copies_) close(copy);
    posix_spawn_file_actions_destroy(&actions_);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
  std::vector<int> copies_;
};

// Returns 0 or the error's number.
int spawn(const ProcessOptions& options, pid_t& pid) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const FileActions files(options.descriptors);
  const std::vector<std::string> environment = merged(options.environment);
  const int error = posix_spawnp(&pid, options.arguments[0].c_str(), files.get(), &attributes,
                                 pointers(options.arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

ChildProcess::ChildProcess(const ProcessOptions& options) {
  if (const int error = spawn(options, pid_); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  // glibc 2.36 declares pidfd_open() for C alone.
  fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (fd_ >= 0) return;
  const int error = errno;
  ::kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  throw std::system_error(error, std::generic_category());
}

ChildProcess::~ChildProcess() {
  kill();
  close(fd_);
}

bool ChildProcess::wait(std::chrono::milliseconds timeout) const {
  pollfd end{fd_, POLLIN, 0};
  return pid_ < 0 || poll(&end, 1, static_cast<int>(timeout.count())) > 0;
}

void ChildProcess::send_kill() const {
  // No other process can have its number before it is reaped.
  if (pid_ >= 0) ::kill(-pid_, SIGKILL);
}

int ChildProcess::kill() {
  send_kill();
  if (pid_ < 0 || !wait(kMaxKillTime)) return status_;
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return status_;
}

MemoryFile::MemoryFile() : fd_(memfd_create("lookout", MFD_CLOEXEC)) {
  if (fd_ >= 0) return;
  throw Error(ErrorKind::kInternal,
              "no memory for another program: " + std::generic_category().message(errno));
}

MemoryFile::~MemoryFile() { close(fd_); }

std::string content_of_descriptor(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  ssize_t count = 0;
  while ((count = pread(descriptor, part.data(), part.size(), static_cast<off_t>(text.size()))) >
         0) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string MemoryFile::first_line() const {
  std::array<char, 300> text{};
  const auto count = pread(fd_, text.data(), text.size(), 0);
  return lookout::first_line({text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
}

std::string describe_end(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("exit status {}", WEXITSTATUS(wait_status));
  return fmt::format("{} (signal {})", strsignal(WTERMSIG(wait_status)), WTERMSIG(wait_status));
}

}  // namespace lookout
