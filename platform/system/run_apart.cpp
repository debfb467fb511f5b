#include "platform/system/run_apart.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include "pipeline/error.h"

namespace lookout {
namespace {

Error cannot_start(const std::string& what) {
  return {ErrorKind::kInternal, fmt::format("{} cannot be tried in a process of its own: {}", what,
                                            std::strerror(errno))};
}

// Nobody sees it when the reader is gone.
void write_whole(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

std::string read_whole(int fd) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

// The child's. Its exit status is that of the Error; it leaves without the destructors of globals,
// which belong to the parent.
[[noreturn]] void work_and_exit(int fd, const std::function<std::string()>& work) {
  int status = 0;
  try {
    write_whole(fd, work());
  } catch (const Error& error) {
    write_whole(fd, error.what());
    status = error.exit_status();
  } catch (const std::exception& error) {
    write_whole(fd, error.what());
    status = static_cast<int>(ErrorKind::kInternal);
  }
  ::_exit(status);
}

}  // namespace

std::string run_apart(const std::string& what, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw cannot_start(what);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work_and_exit(ends[1], work);
  }
  ::close(ends[1]);
  const std::string text = child < 0 ? "" : read_whole(ends[0]);
  ::close(ends[0]);
  if (child < 0) throw cannot_start(what);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    throw Error(ErrorKind::kInternal, fmt::format("{} ends with {} (signal {})", what,
                                                  ::strsignal(WTERMSIG(status)), WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) throw Error(static_cast<ErrorKind>(WEXITSTATUS(status)), text);
  return text;
}

}  // namespace lookout
