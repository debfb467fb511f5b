#include "platform/decoder/stream_network.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace lookout {
namespace {

// FFmpeg follows eight redirections; a name may have several addresses.
constexpr std::size_t kMaxNames = 32;
constexpr std::size_t kMaxAddresses = 64;
constexpr std::size_t kMaxDatagramSockets = 16;
constexpr int kResolveFlags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV | AI_ADDRCONFIG;

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The bytes of an IP address, without its port.
std::optional<std::string> machine_of(const SocketAddress& address) {
  if (address.bytes.ss_family == AF_INET && address.size == sizeof(sockaddr_in)) {
    return bytes_of(reinterpret_cast<const sockaddr_in&>(address.bytes).sin_addr);
  }
  if (address.bytes.ss_family == AF_INET6 && address.size == sizeof(sockaddr_in6)) {
    return bytes_of(reinterpret_cast<const sockaddr_in6&>(address.bytes).sin6_addr);
  }
  return std::nullopt;
}

// `machine`: the address's. The port has the same place in both kinds.
std::string place_and_port(const SocketAddress& address, const std::string& machine) {
  return machine + bytes_of(reinterpret_cast<const sockaddr_in&>(address.bytes).sin_port);
}

const sockaddr* raw(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.bytes);
}

// Takes `fd` along unless that is -1.
bool send_answer(int socket, NetworkAnswer& answer, int fd) {
  iovec bytes{&answer, sizeof answer};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> rights{};
  if (fd >= 0) {
    message.msg_control = rights.data();
    message.msg_controllen = rights.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof answer;
}

bool has_ends(const NetworkRequest& request) {
  return request.service.back() == '\0' &&
         (request.kind != NetworkRequestKind::kResolve || request.text.back() == '\0');
}

}  // namespace

StreamNetwork::~StreamNetwork() {
  for (const int fd : datagrams_) close(fd);
}

void StreamNetwork::settle(bool live) { phase_ = live ? Phase::kLive : Phase::kFile; }

bool StreamNetwork::serve(int socket) {
  NetworkRequest request{};
  const auto count = recv(socket, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (count != sizeof request || !has_ends(request)) return false;
  NetworkAnswer answer{};
  int fd = -1;
  switch (request.kind) {
    case NetworkRequestKind::kResolve:
      resolve(request, answer);
      break;
    case NetworkRequestKind::kSocket:
      fd = make_socket(request, answer);
      break;
    case NetworkRequestKind::kConnect:
      fd = connect(request, answer);
      break;
    case NetworkRequestKind::kBind:
      bind(request, answer);
      break;
    case NetworkRequestKind::kSend:
      send_datagram(request, answer);
      break;
    default:
      return false;
  }
  const bool sent = send_answer(socket, answer, fd);
  if (fd >= 0) close(fd);
  return sent;
}

void StreamNetwork::resolve(const NetworkRequest& request, NetworkAnswer& answer) {
  const std::string name = request.text.data();
  const bool may_be_new = phase_ == Phase::kOpening && names_.size() < kMaxNames;
  if (!may_be_new && names_.count(name) == 0) {
    answer.error = EAI_FAIL;
    return;
  }
  names_.insert(name);
  addrinfo hints{};
  hints.ai_family = request.family;
  hints.ai_socktype = request.type;
  hints.ai_flags = request.flags & kResolveFlags;
  addrinfo* all = nullptr;
  answer.error =
      getaddrinfo(name.empty() ? nullptr : name.c_str(),
                  request.service[0] == '\0' ? nullptr : request.service.data(), &hints, &all);
  if (answer.error != 0) return;
  for (const addrinfo* each = all; each != nullptr; each = each->ai_next) {
    if (answer.count == static_cast<std::int32_t>(answer.found.size())) break;
    if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
    FoundAddress& found = answer.found.at(static_cast<std::size_t>(answer.count++));
    found.family = each->ai_family;
    found.type = each->ai_socktype;
    found.protocol = each->ai_protocol;
    found.address.size = each->ai_addrlen;
    std::memcpy(&found.address.bytes, each->ai_addr, each->ai_addrlen);
  }
  freeaddrinfo(all);
}

// One of TCP has no use before kConnect replaces it.
int StreamNetwork::make_socket(const NetworkRequest& request, NetworkAnswer& answer) {
  const bool is_ip = request.family == AF_INET || request.family == AF_INET6;
  const bool is_datagram = request.type == SOCK_DGRAM;
  const bool is_refused = is_datagram && (!udp_ || phase_ != Phase::kOpening ||
                                          datagrams_.size() == kMaxDatagramSockets);
  if (!is_ip || (!is_datagram && request.type != SOCK_STREAM) || is_refused) {
    answer.error = EACCES;
    return -1;
  }
  const int fd = ::socket(request.family, request.type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  answer.error = fd < 0 ? errno : 0;
  if (fd >= 0 && is_datagram) {
    answer.id = static_cast<std::int32_t>(datagrams_.size());
    datagrams_.push_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  return fd;
}

int StreamNetwork::connect(const NetworkRequest& request, NetworkAnswer& answer) {
  const auto machine = machine_of(request.address);
  const std::string place = machine ? place_and_port(request.address, *machine) : "";
  const bool may_be_new = phase_ == Phase::kOpening && addresses_.size() < kMaxAddresses;
  const bool is_known = addresses_.count(place) > 0;
  if (!machine || phase_ == Phase::kLive || (!may_be_new && !is_known)) {
    answer.error = EACCES;
    return -1;
  }
  const int fd =
      ::socket(request.address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || ::connect(fd, raw(request.address), request.address.size) != 0) {
    answer.error = errno;
  }
  addresses_.insert(place);
  machines_.insert(*machine);
  return fd;
}

int StreamNetwork::datagram_socket(int id) const {
  const bool exists = id >= 0 && static_cast<std::size_t>(id) < datagrams_.size();
  return exists ? datagrams_.at(static_cast<std::size_t>(id)) : -1;
}

void StreamNetwork::bind(const NetworkRequest& request, NetworkAnswer& answer) const {
  if (!machine_of(request.address)) {
    answer.error = EACCES;
  } else if (::bind(datagram_socket(request.id), raw(request.address), request.address.size) != 0) {
    answer.error = errno;
  }
}

void StreamNetwork::send_datagram(const NetworkRequest& request, NetworkAnswer& answer) const {
  const auto machine = machine_of(request.address);
  const bool fits =
      request.size >= 0 && static_cast<std::size_t>(request.size) <= request.text.size();
  if (!machine || machines_.count(*machine) == 0 || !fits) {
    answer.error = EACCES;
  } else if (sendto(datagram_socket(request.id), request.text.data(),
                    static_cast<std::size_t>(request.size), MSG_NOSIGNAL | MSG_DONTWAIT,
                    raw(request.address), request.address.size) != request.size) {
    answer.error = errno;
  }
}

}  // namespace lookout
