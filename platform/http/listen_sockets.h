// The sockets that the HTTP server accepts from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/http/http_address.h"

namespace lookout {

// Listening, non-blocking sockets, closed with this.
class ListenSockets {
 public:
  // Those of systemd that are named "http"; else a new one at the address. None when there is
  // neither. Throws Error: kUnsupported when the address is not this machine's or in use,
  // kPermission when it is not allowed.
  explicit ListenSockets(const std::optional<HttpAddress>& address);
  ~ListenSockets();
  ListenSockets(const ListenSockets&) = delete;
  ListenSockets& operator=(const ListenSockets&) = delete;

  const std::vector<int>& fds() const { return fds_; }
  // For the log: `http://127.0.0.1:8090/`, with the port that the system chose.
  std::vector<std::string> names() const;
  // Whether one of them is reachable by other machines.
  bool are_public() const;
  // No more connections are accepted. A Unix socket's file is removed, unless it is systemd's.
  void close();

 private:
  std::vector<int> fds_;
  std::string path_;  // of the Unix socket that this made
};

}  // namespace lookout
