// What a client sends, in two parts, through all phases of a connection: answers of HTTP, or its
// end. The first byte is where the parts begin, in eighths.
#include "platform/http/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace {

// Answers at once, with what was sent.
class Handler : public lookout::HttpHandler {
 public:
  const char* route(const lookout::HttpRequest& /*request*/) const override { return "/echo"; }
  std::optional<lookout::HttpResponse> refusal(const lookout::HttpRequest& request) override {
    if (request.path != "/refused") return std::nullopt;
    return lookout::http_error(401, "unauthorized", "a token is needed");
  }
  void handle(const lookout::HttpRequest& request, const lookout::HttpRespond& respond) override {
    if (request.path.empty() || request.path.front() != '/') std::abort();
    respond(lookout::http_text("text/plain", request.body ? *request.body : request.path));
  }
  void poll() override {}
  bool is_busy() const override { return false; }
};

constexpr std::size_t kMaxAnswers = 1 << 20;

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> part{};
  ssize_t count = 0;
  while ((count = ::recv(fd, part.data(), part.size(), MSG_DONTWAIT)) > 0) {
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxAnswers) std::abort();
  }
  return text;
}

void send(int fd, std::string_view text) {
  static_cast<void>(::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t first = text.size() * (data[0] % 8U) / 8;

  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  static Handler handler;
  static lookout::HttpMetrics metrics;
  static const lookout::HttpLimits limits = [] {
    lookout::HttpLimits small;
    small.upload = 2048;
    small.uploads = 4096;
    return small;
  }();
  int closed = 0;
  const lookout::HttpConnection::Owner owner{handler, limits, metrics, [] {},
                                             [&closed](lookout::HttpConnection*) { ++closed; }};
  boost::asio::io_context io(1);
  lookout::HttpConnection::Socket socket(io);
  socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, 0), ends[0]);
  auto connection =
      std::make_shared<lookout::HttpConnection>(std::move(socket), "192.0.2.7", owner);
  connection->start();
  send(ends[1], text.substr(0, first));
  io.poll();
  send(ends[1], text.substr(first));
  io.poll();
  ::shutdown(ends[1], SHUT_WR);
  io.poll();
  const std::string answers = read_all(ends[1]);
  if (!answers.empty() && answers.rfind("HTTP/1.1 ", 0) != 0) std::abort();
  connection->close();
  connection.reset();
  io.restart();
  io.poll();
  ::close(ends[1]);
  if (closed != 1) std::abort();
  return 0;
}
