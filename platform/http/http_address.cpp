#include "platform/http/http_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <array>
#include <cstring>

#include "pipeline/core/error.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

constexpr const char* kUnixPrefix = "unix:";
constexpr std::size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

bool is_address_of(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const bool is_whole = text.find('\0') == std::string::npos;  // inet_pton stops there
  return is_whole && inet_pton(family, text.c_str(), bytes.data()) == 1;
}

Error bad_listen_address(const std::string& text) {
  return {
      ErrorKind::kUsage,
      "expected an address to listen on, as 127.0.0.1:8090, [::]:8090 or unix:PATH, not " + text};
}

}  // namespace

bool is_ip_address(const std::string& text) {
  return is_address_of(AF_INET, text) || is_address_of(AF_INET6, text);
}

HttpAddress parse_http_address(const std::string& text) {
  HttpAddress address;
  if (text.rfind(kUnixPrefix, 0) == 0) {
    address.path = text.substr(std::strlen(kUnixPrefix));
    if (address.path.empty() || address.path.size() > kMaxSocketPath)
      throw bad_listen_address(text);
    return address;
  }
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) throw bad_listen_address(text);
  const auto port = parse_number<std::uint16_t>(text.substr(colon + 1));
  address.host = text.substr(0, colon);
  const bool brackets =
      address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (brackets) address.host = address.host.substr(1, address.host.size() - 2);
  if (!port || !is_address_of(brackets ? AF_INET6 : AF_INET, address.host)) {
    throw bad_listen_address(text);
  }
  address.port = *port;
  return address;
}

bool is_loopback(const HttpAddress& address) {
  if (!address.path.empty()) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, address.host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6) != 0;
}

std::string to_text(const HttpAddress& address) {
  if (!address.path.empty()) return kUnixPrefix + address.path;
  const bool v6 = address.host.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + address.host + "]" : address.host;
  return "http://" + host + ":" + std::to_string(address.port) + "/";
}

}  // namespace lookout
