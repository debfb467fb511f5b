#include "platform/http/listen_sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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

// Ends the process, which systemd would have started with four sockets, of which one is right.
[[noreturn]] void exit_with_sockets_of_systemd() {
  open_as(kFirst, /*listening=*/true);
  open_as(kFirst + 1, /*listening=*/true);
  open_as(kFirst + 2, /*listening=*/false);
  open_as(kFirst + 3, /*listening=*/true);
  setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
  setenv("LISTEN_FDS", "4", 1);
  setenv("LISTEN_FDNAMES", "other:http:http:control", 1);
  const ListenSockets sockets(parse_http_address("127.0.0.1:0"));
  if (sockets.fds() != std::vector<int>{kFirst + 1}) std::_Exit(1);
  if ((fcntl(kFirst + 1, F_GETFL) & O_NONBLOCK) == 0) std::_Exit(2);
  if ((fcntl(kFirst + 1, F_GETFD) & FD_CLOEXEC) == 0) std::_Exit(3);
  std::_Exit(0);
}

TEST(ListenSocketsDeathTest, OfSystemdAreThoseNamedHttpThatListen) {
  EXPECT_EXIT(exit_with_sockets_of_systemd(), testing::ExitedWithCode(0), "");
}

TEST(ListenSockets, WithoutSystemdAndAddressThereAreNone) {
  EXPECT_TRUE(ListenSockets(std::nullopt).fds().empty());
}

}  // namespace
}  // namespace lookout
