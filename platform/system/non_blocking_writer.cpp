#include "platform/system/non_blocking_writer.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

#include "pipeline/error.h"

namespace lookout {
namespace {

constexpr int kLongestWaitMs = 100;

bool has_room(int fd, int timeout_ms) {
  pollfd room{fd, POLLOUT, 0};
  // A closed pipe counts as room: writing will tell.
  return poll(&room, 1, timeout_ms) > 0;
}

}  // namespace

NonBlockingWriter::NonBlockingWriter(int fd, std::string name, WhenFull when_full,
                                     std::atomic<bool>& stop)
    : fd_(fd), name_(std::move(name)), when_full_(when_full), stop_(stop) {}

bool NonBlockingWriter::wait_for_room() {
  if (has_room(fd_, 0)) return true;
  if (when_full_ == WhenFull::kDrop) return false;
  while (!has_room(fd_, kLongestWaitMs)) {
    if (stop_) return false;
  }
  return true;
}

// Returns how many bytes were written.
std::size_t NonBlockingWriter::send(std::string_view text) {
  std::size_t sent = 0;
  while (sent < text.size() && wait_for_room()) {
    // A pipe with any room takes PIPE_BUF bytes without blocking.
    const ssize_t written =
        ::write(fd_, text.data() + sent, std::min<std::size_t>(text.size() - sent, PIPE_BUF));
    if (written >= 0) {
      sent += static_cast<std::size_t>(written);
    } else if (errno == EPIPE) {
      stop_ = true;
      closed_ = true;
      break;
    } else if (errno != EINTR && errno != EAGAIN) {
      throw Error(ErrorKind::kOutput,
                  name_ + ": " + std::generic_category().message(errno) + " while writing results");
    }
  }
  return sent;
}

bool NonBlockingWriter::write(std::string_view text) {
  if (closed_) return false;
  pending_.erase(0, send(pending_));
  const std::size_t sent = pending_.empty() ? send(text) : 0;
  if (sent == 0 && !text.empty()) {
    if (!closed_) ++dropped_;
    return false;
  }
  pending_ = text.substr(sent);
  return true;
}

}  // namespace lookout
