// Where the HTTP server listens.
#pragma once

#include <cstdint>
#include <string>

namespace lookout {

struct HttpAddress {
  std::string host;        // an IPv4 or IPv6 address without brackets; empty for `path`
  std::uint16_t port = 0;  // 0: the system chooses one
  std::string path;        // of a Unix socket; empty: TCP
};

// `127.0.0.1:8090`, `[::]:8090` or `unix:/run/lookout/http`. Throws Error(kUsage) with the accepted
// forms for another text. Pure: nothing is looked up.
HttpAddress parse_http_address(const std::string& text);

// Whether only programs of this machine reach it: a Unix socket, 127.0.0.0/8 or ::1.
bool is_loopback(const HttpAddress& address);

// `http://127.0.0.1:8090/`, or `unix:PATH`.
std::string to_text(const HttpAddress& address);

// Whether the text is an IPv4 address, or an IPv6 address without brackets.
bool is_ip_address(const std::string& text);

}  // namespace lookout
