#include "pipeline/core/wake_event.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>

#include "pipeline/core/error.h"

namespace lookout {

WakeEvent::WakeEvent() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ >= 0) return;
  throw Error(ErrorKind::kPermission,
              "cannot make an event: " + std::generic_category().message(errno));
}

WakeEvent::~WakeEvent() { close(fd_); }

void WakeEvent::wake() const noexcept {
  const int saved = errno;  // of the code that a signal interrupted
  const std::uint64_t one = 1;
  static_cast<void>(write(fd_, &one, sizeof one));
  errno = saved;
}

void WakeEvent::wait(Clock::duration timeout) const {
  constexpr std::chrono::minutes kMax{1};
  pollfd event{fd_, POLLIN, 0};
  const auto left = std::clamp<Clock::duration>(timeout, {}, kMax);
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  if (poll(&event, 1, static_cast<int>(ms)) > 0) clear();
}

void WakeEvent::clear() const {
  std::uint64_t count = 0;
  static_cast<void>(read(fd_, &count, sizeof count));
}

void wait_for(const WakeEvent* wake, Clock::duration timeout) {
  if (wake == nullptr) {
    std::this_thread::sleep_for(timeout);
  } else {
    wake->wait(timeout);
  }
}

}  // namespace lookout
