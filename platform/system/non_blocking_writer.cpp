#include "platform/system/non_blocking_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

constexpr int kMaxWaitMs = 100;
constexpr int kRetryMs = 10;

bool has_room(int fd, int timeout_ms) {
  pollfd room{fd, POLLOUT, 0};
  // A closed pipe counts as room: the write reports it.
  return poll(&room, 1, timeout_ms) > 0;
}

bool is_kind(int fd, mode_t kind) {
  struct stat status {};
  return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

// Opens a pipe or terminal once more, with O_NONBLOCK. Returns -1 when the system refuses. Files
// are never opened again: a new description would begin to write at their start.
int open_again(int fd) {
  if (!is_kind(fd, S_IFIFO) && isatty(fd) != 1) return -1;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

// Whether a terminal that refused a write with this error was closed.
bool is_hung_up(int fd, int error) { return error == EIO && isatty(fd) == 0 && errno == EIO; }

}  // namespace

NonBlockingWriter::NonBlockingWriter(int fd, std::string name, WhenFull when_full,
                                     std::atomic<bool>& stop, WhenClosed when_closed)
    : fd_(fd),
      socket_(is_kind(fd, S_IFSOCK)),
      name_(std::move(name)),
      when_full_(when_full),
      stop_(stop),
      when_closed_(when_closed) {
  if (const int again = open_again(fd); again >= 0) {
    fd_ = again;
    own_fd_ = true;
  }
}

NonBlockingWriter::~NonBlockingWriter() {
  if (own_fd_) close(fd_);
}

bool NonBlockingWriter::may_wait() const {
  const bool late = end_ && std::chrono::steady_clock::now() >= *end_;
  return when_full_ == WhenFull::kWait && !late && !stop_;
}

bool NonBlockingWriter::wait_for_room() {
  if (has_room(fd_, 0)) return true;
  if (when_full_ == WhenFull::kDrop) return false;
  const auto start = std::chrono::steady_clock::now();
  bool room = has_room(fd_, kMaxWaitMs);
  while (!room && may_wait()) room = has_room(fd_, kMaxWaitMs);
  waited_ += std::chrono::steady_clock::now() - start;
  return room;
}

// A terminal may have room for a byte, but not for a line end, which it makes two of.
void NonBlockingWriter::wait_for_more_room() {
  const auto start = std::chrono::steady_clock::now();
  poll(nullptr, 0, kRetryMs);
  waited_ += std::chrono::steady_clock::now() - start;
}

// Returns how many bytes were written.
std::size_t NonBlockingWriter::send(std::string_view text) {
  std::size_t sent = 0;
  while (sent < text.size() && wait_for_room()) {
    // A blocking pipe with any room takes PIPE_BUF bytes at once.
    const char* const rest = text.data() + sent;
    const std::size_t count = std::min<std::size_t>(text.size() - sent, PIPE_BUF);
    const ssize_t written =
        socket_ ? ::send(fd_, rest, count, MSG_DONTWAIT | MSG_NOSIGNAL) : ::write(fd_, rest, count);
    if (written >= 0) {
      sent += static_cast<std::size_t>(written);
    } else if (errno == EPIPE || is_hung_up(fd_, errno)) {
      closed_ = true;
      if (when_closed_ == WhenClosed::kFail) {
        throw Error(ErrorKind::kDeviceLost, name_ + ": the reader has closed it");
      }
      stop_ = true;
      break;
    } else if (errno == EAGAIN) {
      if (!may_wait()) break;
      wait_for_more_room();
    } else if (errno != EINTR) {
      throw Error(ErrorKind::kOutput,
                  name_ + ": " + std::generic_category().message(errno) + " while writing results");
    }
  }
  return sent;
}

bool NonBlockingWriter::flush() {
  if (!closed_) pending_.erase(0, send(pending_));
  return pending_.empty();
}

bool NonBlockingWriter::write(std::string_view text) {
  if (closed_) return false;
  const std::size_t sent = flush() ? send(text) : 0;
  if (sent == 0 && !text.empty()) {
    if (!closed_) ++dropped_;
    return false;
  }
  pending_ = text.substr(sent);
  return true;
}

bool write_at_end(int fd, std::string_view text, std::chrono::milliseconds time_limit) {
  const auto end = std::chrono::steady_clock::now() + time_limit;
  std::atomic<bool> closed{false};
  try {
    NonBlockingWriter writer(fd, "", NonBlockingWriter::WhenFull::kDrop, closed);
    bool accepted = writer.write(text);
    while (!(accepted && writer.flush())) {
      if (closed || std::chrono::steady_clock::now() > end) return false;
      poll(nullptr, 0, kRetryMs);
      if (!accepted) accepted = writer.write(text);
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool can_redraw(int fd) {
  const char* term = std::getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  return isatty(fd) == 1 && !name.empty() && name != "dumb";
}

}  // namespace lookout
