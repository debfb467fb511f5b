#include "tests/platform/http/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "pipeline/core/lower_case.h"

namespace lookout {
namespace {

constexpr timeval kPatience{30, 0};

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
};

SocketAddress socket_address(const char* host, std::uint16_t port) {
  SocketAddress address{};
  address.v4.sin_family = AF_INET;
  address.v4.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.v4.sin_addr);
  return address;
}

HttpAnswer parse_header(const std::string& header) {
  HttpAnswer answer;
  std::istringstream lines(header);
  std::string line;
  std::getline(lines, line);
  if (line.size() > 9) answer.status = std::atoi(line.c_str() + 9);
  while (std::getline(lines, line) && line != "\r") {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    answer.headers[lower_case(line.substr(0, colon))] =
        line.substr(colon + 2, line.size() - colon - 3);
  }
  return answer;
}

}  // namespace

HttpClient::HttpClient(std::uint16_t port, int receive_buffer, const char* address)
    : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  if (receive_buffer > 0) {
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  }
  const SocketAddress own = socket_address(address, 0);
  const SocketAddress server = socket_address("127.0.0.1", port);
  if (bind(fd_, &own.any, sizeof(own.v4)) != 0 ||
      connect(fd_, &server.any, sizeof(server.v4)) != 0) {
    throw std::system_error(errno, std::generic_category(), "connect");
  }
}

HttpClient::~HttpClient() { close(fd_); }

bool HttpClient::send(const std::string& text) const {
  return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

void HttpClient::end_sending() const { shutdown(fd_, SHUT_WR); }

bool HttpClient::receive() {
  std::array<char, 65536> bytes{};
  const ssize_t count = recv(fd_, bytes.data(), bytes.size(), 0);
  if (count > 0) buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

std::string HttpClient::read_until(const std::string& text) {
  auto end = buffer_.find(text);
  while (end == std::string::npos) {
    if (!receive()) return {};
    end = buffer_.find(text);
  }
  std::string read = buffer_.substr(0, end + text.size());
  buffer_.erase(0, read.size());
  return read;
}

std::string HttpClient::read_bytes(std::size_t count) {
  while (buffer_.size() < count && receive()) {
  }
  std::string read = buffer_.substr(0, count);
  buffer_.erase(0, read.size());
  return read;
}

std::string HttpClient::read_all() {
  while (receive()) {
  }
  return std::move(buffer_);
}

std::string HttpClient::read_now() const {
  std::array<char, 65536> bytes{};
  const ssize_t count = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : std::string();
}

bool HttpClient::is_open() const {
  std::array<char, 65536> bytes{};
  ssize_t count = 1;
  while (count > 0) count = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

HttpAnswer HttpClient::read_answer(bool has_body) {
  HttpAnswer answer = parse_header(read_until("\r\n\r\n"));
  const auto length = answer.headers.find("content-length");
  if (has_body && length != answer.headers.end()) {
    answer.body = read_bytes(std::stoul(length->second));
  }
  return answer;
}

HttpAnswer HttpClient::get(const std::string& target, const std::string& headers,
                           const std::string& method) {
  send(method + " " + target + " HTTP/1.1\r\n" + headers + "\r\n");
  return read_answer(method != "HEAD");
}

HttpAnswer http_get(std::uint16_t port, const std::string& target, const std::string& headers,
                    const std::string& method) {
  return HttpClient(port).get(target, headers, method);
}

}  // namespace lookout
