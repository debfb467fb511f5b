#include "platform/output.h"

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

Output::Output(int fd, std::string name, WhenFull when_full, std::atomic<bool>& stop)
    : fd_(fd), name_(std::move(name)), when_full_(when_full), stop_(stop) {}

bool Output::wait_for_room(bool may_drop) {
  if (has_room(fd_, 0)) return true;
  if (may_drop) return false;
  while (!has_room(fd_, kLongestWaitMs)) {
    if (stop_) return false;
  }
  return true;
}

bool Output::write(std::string_view text) {
  bool begun = false;
  while (!text.empty()) {
    if (!wait_for_room(when_full_ == WhenFull::kDrop && !begun)) {
      ++dropped_;
      return false;
    }
    // A pipe with any room takes PIPE_BUF bytes without blocking.
    const ssize_t written = ::write(fd_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      begun = true;
    } else if (errno == EPIPE) {
      stop_ = true;
      return false;
    } else if (errno != EINTR && errno != EAGAIN) {
      throw Error(ErrorKind::kOutput,
                  name_ + ": " + std::generic_category().message(errno) + " while writing results");
    }
  }
  return true;
}

}  // namespace lookout
