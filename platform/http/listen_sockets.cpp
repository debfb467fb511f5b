#include "platform/http/listen_sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

constexpr const char* kSystemdName = "http";
constexpr int kBacklog = 64;

// An address of any family. Sockets take a pointer to its first member.
union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_un path;
};

std::vector<int> sockets_of_systemd() {
  std::vector<int> fds;
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(/*unset_environment=*/0, &names);
  for (int i = 0; i < count; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    const bool ours = std::strcmp(names[i], kSystemdName) == 0;
    if (ours && sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) > 0) fds.push_back(fd);
    std::free(names[i]);
  }
  std::free(names);
  for (const int fd : fds) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
  return fds;
}

Error cannot_listen(const HttpAddress& address, int error) {
  const ErrorKind kind =
      error == EACCES || error == EPERM ? ErrorKind::kPermission : ErrorKind::kUnsupported;
  return {kind, fmt::format("http: cannot listen on {}: {}", to_text(address),
                            std::generic_category().message(error))};
}

socklen_t fill(const HttpAddress& from, Address& to) {
  std::memset(&to, 0, sizeof(to));
  if (!from.path.empty()) {
    to.path.sun_family = AF_UNIX;
    std::copy(from.path.begin(), from.path.end(), std::begin(to.path.sun_path));
    return sizeof(to.path);
  }
  if (from.host.find(':') != std::string::npos) {
    to.v6.sin6_family = AF_INET6;
    to.v6.sin6_port = htons(from.port);
    inet_pton(AF_INET6, from.host.c_str(), &to.v6.sin6_addr);
    return sizeof(to.v6);
  }
  to.v4.sin_family = AF_INET;
  to.v4.sin_port = htons(from.port);
  inet_pton(AF_INET, from.host.c_str(), &to.v4.sin_addr);
  return sizeof(to.v4);
}

// A socket file that nobody listens on is left over from a run that was killed.
void remove_left_over(const HttpAddress& address, const Address& to, socklen_t size) {
  struct stat status {};
  if (lstat(address.path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool refused = connect(fd, &to.any, size) != 0 && errno == ECONNREFUSED;
  ::close(fd);
  if (refused) unlink(address.path.c_str());
}

int listen_on(const HttpAddress& address) {
  Address to;
  const socklen_t size = fill(address, to);
  if (!address.path.empty()) remove_left_over(address, to, size);
  const int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) throw cannot_listen(address, errno);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(fd, &to.any, size) != 0 || listen(fd, kBacklog) != 0) {
    const int error = errno;
    ::close(fd);
    throw cannot_listen(address, error);
  }
  return fd;
}

HttpAddress address_of(int fd) {
  Address own;
  std::memset(&own, 0, sizeof(own));
  socklen_t size = sizeof(own);
  HttpAddress address;
  if (getsockname(fd, &own.any, &size) != 0) return address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (own.any.sa_family == AF_UNIX) {
    address.path = own.path.sun_path;
  } else if (own.any.sa_family == AF_INET6) {
    address.host = inet_ntop(AF_INET6, &own.v6.sin6_addr, text.data(), text.size());
    address.port = ntohs(own.v6.sin6_port);
  } else {
    address.host = inet_ntop(AF_INET, &own.v4.sin_addr, text.data(), text.size());
    address.port = ntohs(own.v4.sin_port);
  }
  return address;
}

}  // namespace

ListenSockets::ListenSockets(const std::optional<HttpAddress>& address)
    : fds_(sockets_of_systemd()) {
  if (!fds_.empty() || !address) return;
  fds_.push_back(listen_on(*address));
  path_ = address->path;
}

ListenSockets::~ListenSockets() { close(); }

std::vector<std::string> ListenSockets::names() const {
  std::vector<std::string> names;
  for (const int fd : fds_) names.push_back(to_text(address_of(fd)));
  return names;
}

bool ListenSockets::are_public() const {
  return std::any_of(fds_.begin(), fds_.end(), [](int fd) { return !is_loopback(address_of(fd)); });
}

void ListenSockets::close() {
  for (const int fd : fds_) ::close(fd);
  fds_.clear();
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
}

}  // namespace lookout
