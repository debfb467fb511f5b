// The network of a process that has none: lookout looks up names and makes the sockets that
// lookout-stream-decoder asks for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "platform/decoder/stream_protocol.h"

namespace lookout {

// While a video is opened it may connect to any 64 addresses by TCP, since servers redirect. After
// that a live stream gets no connection any more, and a file those to the same addresses, for it
// may be read in parts. Sockets of UDP are for RTSP by UDP alone; they send to the machines that
// it has connected to.
//
// Used by one thread.
class StreamNetwork {
 public:
  explicit StreamNetwork(bool udp) : udp_(udp) {}
  ~StreamNetwork();
  StreamNetwork(const StreamNetwork&) = delete;
  StreamNetwork& operator=(const StreamNetwork&) = delete;

  // Answers one request that waits in `socket`. Returns false when there is none that makes sense.
  // Waits for nothing but the search for a host's name.
  bool serve(int socket);

  // The video is open.
  void settle(bool live);

 private:
  enum class Phase { kOpening, kFile, kLive };

  void resolve(const NetworkRequest& request, NetworkAnswer& answer);
  int make_socket(const NetworkRequest& request, NetworkAnswer& answer);
  int connect(const NetworkRequest& request, NetworkAnswer& answer);
  void bind(const NetworkRequest& request, NetworkAnswer& answer) const;
  void send_datagram(const NetworkRequest& request, NetworkAnswer& answer) const;
  int datagram_socket(int id) const;

  const bool udp_;
  Phase phase_ = Phase::kOpening;
  std::set<std::string> names_;      // that were looked up
  std::set<std::string> addresses_;  // with ports, that it has connected to
  std::set<std::string> machines_;   // without ports
  std::vector<int> datagrams_;       // copies of the sockets of UDP
};

}  // namespace lookout
