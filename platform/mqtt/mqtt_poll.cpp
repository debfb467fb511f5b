#include "platform/mqtt/mqtt_poll.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {

MqttWake::MqttWake() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ >= 0) return;
  throw Error(ErrorKind::kPermission,
              "mqtt: cannot start: " + std::generic_category().message(errno));
}

MqttWake::~MqttWake() { close(fd_); }

void MqttWake::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(write(fd_, &one, sizeof one));
}

void MqttWake::clear() const {
  std::uint64_t count = 0;
  static_cast<void>(read(fd_, &count, sizeof count));
}

MqttReady poll_link(const MqttLink& link, const MqttWake& wake, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kMax{60'000};
  const auto left = std::clamp<Clock::duration>(deadline - Clock::now(), {}, kMax);
  const auto write = static_cast<short>(link.wants_write() ? POLLOUT : 0);
  std::array<pollfd, 2> fds{pollfd{wake.fd(), POLLIN, 0},
                            pollfd{link.fd(), static_cast<short>(POLLIN | write), 0}};
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  if (poll(fds.data(), fds.size(), static_cast<int>(timeout)) <= 0) return {};
  if (fds[0].revents != 0) wake.clear();
  const auto events = static_cast<unsigned int>(fds[1].revents);
  return {(events & (POLLIN | POLLHUP | POLLERR)) != 0, (events & (POLLOUT | POLLERR)) != 0};
}

}  // namespace lookout
