#include "platform/system/run_in_child.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <system_error>

#include "pipeline/core/error.h"
#include "platform/system/child_process.h"

namespace lookout {
namespace {

// Work that never returns must not outlive the program that waits for it.
void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(static_cast<int>(ErrorKind::kInternal));
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

std::string run_in_child(const std::string& what, const std::function<std::string()>& work) {
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
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw Error(ErrorKind::kInternal, fmt::format("{} ends with {}", what, describe_end(status)));
  }
  std::string text = output.content();
  if (WEXITSTATUS(status) != 0) throw Error(static_cast<ErrorKind>(WEXITSTATUS(status)), text);
  return text;
}

}  // namespace lookout
