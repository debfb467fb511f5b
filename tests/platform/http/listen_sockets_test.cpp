#include "platform/http/listen_sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/platform/http/http_testing.h"

namespace lookout {
namespace {

constexpr int kFirst = 3;  // systemd's descriptors begin here; see sd_listen_fds(3)

// A socket of this machine, as descriptor `fd`.
void open_as(int fd, bool listening) {
  const int opened = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* address = reinterpret_cast<const sockaddr*>(&loopback);
  if (bind(opened, address, sizeof(loopback)) != 0) std::abort();
  if (listening && listen(opened, 1) != 0) std::abort();
  if (opened == fd) return;
  dup2(opened, fd);
  ::close(opened);
}

void set_names(const char* count, const char* names) {
  setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  setenv("LISTEN_FDS", count, 1);
  setenv("LISTEN_FDNAMES", names, 1);
}

// Ends the process, which systemd would have started with four sockets, of which one is right.
[[noreturn]] void exit_with_sockets_of_systemd() {
  open_as(kFirst, /*listening=*/true);
  open_as(kFirst + 1, /*listening=*/true);
  open_as(kFirst + 2, /*listening=*/false);
  open_as(kFirst + 3, /*listening=*/true);
  set_names("4", "other:http:http:control");
  const ListenSockets sockets(parse_http_address("127.0.0.1:0"));
  if (sockets.fds() != std::vector<int>{kFirst + 1}) std::_Exit(1);
  if ((fcntl(kFirst + 1, F_GETFL) & O_NONBLOCK) == 0) std::_Exit(2);
  if ((fcntl(kFirst + 1, F_GETFD) & FD_CLOEXEC) == 0) std::_Exit(3);
  std::_Exit(0);
}

TEST(ListenSocketsDeathTest, OfSystemdAreThoseNamedHttpThatListen) {
  EXPECT_EXIT(exit_with_sockets_of_systemd(), testing::ExitedWithCode(0), "");
}

// Sends a request from `fd`, a socket, to the server at `name`, "http://127.0.0.1:PORT/".
void ask(int fd, const std::string& name) {
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server.sin_port = htons(static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1))));
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto* address = reinterpret_cast<const sockaddr*>(&server);
  if (connect(fd, address, sizeof(server)) != 0) std::abort();
  if (send(fd, request.data(), request.size(), 0) < 0) std::abort();
}

std::string first_bytes_from(int fd, int flags) {
  std::string bytes(sizeof("HTTP/1.1 503") - 1, ' ');
  const ssize_t count = recv(fd, bytes.data(), bytes.size(), flags);
  return bytes.substr(0, count > 0 ? static_cast<std::size_t>(count) : 0);
}

// Ends the process. When clients of two sockets come, it has no descriptor left for them.
[[noreturn]] void exit_with_two_sockets_and_clients() {
  open_as(kFirst, /*listening=*/true);
  open_as(kFirst + 1, /*listening=*/true);
  set_names("2", "http:http");
  auto sockets = std::make_unique<ListenSockets>(std::nullopt);
  const std::vector<std::string> names = sockets->names();
  HttpReporter reporter(std::move(sockets), http_run_info(), {}, {});
  reporter.watching({{nullptr, http_model()}});
  // A client before, which stays: UBSan takes a descriptor to look at a type for the first time.
  const int before = socket(AF_INET, SOCK_STREAM, 0);
  ask(before, names.at(0));
  if (first_bytes_from(before, MSG_WAITALL) != "HTTP/1.1 503") std::_Exit(3);
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int next = dup(STDERR_FILENO);
  ::close(next);
  const rlimit full{static_cast<rlim_t>(next), limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &full);
  ask(one, names.at(0));
  ask(other, names.at(1));
  for (const int fd : {one, other}) {
    if (!first_bytes_from(fd, MSG_DONTWAIT).empty()) std::_Exit(1);
  }
  setrlimit(RLIMIT_NOFILE, &limit);
  for (const int fd : {one, other}) {
    if (first_bytes_from(fd, MSG_WAITALL) != "HTTP/1.1 503") std::_Exit(2);
  }
  std::_Exit(0);
}

TEST(ListenSocketsDeathTest, EachAcceptsAgainOnceThereAreDescriptors) {
  EXPECT_EXIT(exit_with_two_sockets_and_clients(), testing::ExitedWithCode(0), "");
}

TEST(ListenSockets, WithoutSystemdAndAddressThereAreNone) {
  EXPECT_TRUE(ListenSockets(std::nullopt).fds().empty());
}

}  // namespace
}  // namespace lookout
