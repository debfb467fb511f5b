#include "app/inspect/service_metrics.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "pipeline/core/error.h"
#include "platform/http/http_address.h"

namespace lookout {
namespace {

class ClientSocket {
 public:
  explicit ClientSocket(int family) : fd_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    constexpr timeval kLongest{5, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kLongest, sizeof kLongest);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kLongest, sizeof kLongest);
  }
  ~ClientSocket() { close(fd_); }
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail_to_ask(const std::string& address) {
  throw Error(ErrorKind::kNoInput,
              fmt::format("{}: {}", address, std::generic_category().message(errno)));
}

union AnyAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
  sockaddr_un path;
};

AnyAddress socket_address(const HttpAddress& to) {
  AnyAddress address{};
  if (!to.path.empty()) {
    address.path.sun_family = AF_UNIX;
    std::copy_n(to.path.begin(), std::min(to.path.size(), sizeof address.path.sun_path - 1),
                address.path.sun_path);
  } else if (to.host.find(':') != std::string::npos) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(to.port);
    inet_pton(AF_INET6, to.host.c_str(), &address.v6.sin6_addr);
  } else {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(to.port);
    inet_pton(AF_INET, to.host.c_str(), &address.v4.sin_addr);
  }
  return address;
}

socklen_t size_of(const AnyAddress& address) {
  if (address.any.sa_family == AF_UNIX) return sizeof address.path;
  return address.any.sa_family == AF_INET6 ? sizeof address.v6 : sizeof address.v4;
}

std::string answer_at(const std::string& text, const std::string& bearer) {
  constexpr std::size_t kMost = 4 << 20;
  std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n";
  if (!bearer.empty()) request += "Authorization: Bearer " + bearer + "\r\n";
  request += "\r\n";
  const AnyAddress address = socket_address(parse_http_address(text));
  const ClientSocket client(address.any.sa_family);
  if (connect(client.fd(), &address.any, size_of(address)) != 0) fail_to_ask(text);
  if (send(client.fd(), request.data(), request.size(), MSG_NOSIGNAL) < 0) fail_to_ask(text);
  std::string answer;
  std::array<char, 4096> part{};
  for (;;) {
    const auto count = recv(client.fd(), part.data(), part.size(), 0);
    if (count < 0) fail_to_ask(text);
    if (count == 0 || answer.size() > kMost) return answer;
    answer.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string metrics_at(const std::string& address, const std::string& bearer) {
  const std::string answer = answer_at(address, bearer);
  const std::string status = answer.substr(0, answer.find_first_of("\r\n"));
  const auto body = answer.find("\r\n\r\n");
  if (body == std::string::npos || status.find(" 200 ") == std::string::npos) {
    return fmt::format("{} answers: {}\n", address, status);
  }
  return answer.substr(body + 4);
}

}  // namespace lookout
