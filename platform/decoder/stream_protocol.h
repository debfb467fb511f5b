// What lookout and lookout-stream-decoder, the process that decodes what cameras on the network
// send, tell each other. Both programs come from one build.
//
// lookout sends the order. The decoder then reports, opens the video and sends frames, each a
// message of a fixed size in a socket that keeps messages apart; their pixels are in memory that
// both have descriptors of. It has no network: what it wants of one it asks for by another socket,
// and waits for the answer.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace lookout {

inline const char* const kStreamProgram = "lookout-stream-decoder";

// The decoder's descriptors; the others are sockets that lookout gives it.
inline constexpr int kStreamSocket = 0;   // SOCK_SEQPACKET: order, messages, slots that are free
inline constexpr int kStreamErrors = 2;   // for the messages of the loader and of sanitizers
inline constexpr int kStreamPixels = 3;   // kStreamSlots frames of the largest size; sealed
inline constexpr int kStreamNetwork = 4;  // SOCK_SEQPACKET: requests and answers

// One is written while the other one is read.
inline constexpr int kStreamSlots = 2;
inline constexpr int kPixelBytes = 3;  // BGR without padding

// The members are those of NetworkVideo. Texts end with NUL.
struct StreamOrder {
  std::int64_t max_pixels;  // of a frame
  std::int64_t timeout_ms;
  std::int32_t udp;    // 0 or 1
  std::int32_t debug;  // whether lines of that level are shown: 0 or 1
  std::array<char, 4096> url;
  std::array<char, 4096> shown;
};

enum class StreamMessageKind : std::int32_t {
  kReport,  // `number`: errno, when the kernel refused the filter of system calls; else 0
  kOpened,  // `number`: whether it is live; `text`: the description
  kFrame,   // `number`: the slot; all below but `text`
  kEnd,
  kError,  // `number`: an ErrorKind; `text`: the sentence. It ends then
  kLog,    // `number`: a LogLevel; `text`: the line
};

struct StreamMessage {
  StreamMessageKind kind;
  std::int32_t number;
  std::int32_t width;  // pixels
  std::int32_t height;
  std::int64_t captured;        // ns of Clock
  std::int64_t duration;        // ns, Frame::capture_duration
  std::int64_t media_time;      // ns; -1: none
  std::array<char, 1024> text;  // ends with NUL
};

// lookout's answer to a frame: the slot may be written again.
struct StreamRelease {
  std::int32_t slot;
};

struct SocketAddress {
  sockaddr_storage bytes;
  std::uint32_t size;  // bytes
};

enum class NetworkRequestKind : std::int32_t {
  kResolve,  // getaddrinfo(3): `text`, `service`, `family`, `type`, `flags`
  kSocket,   // socket(2): `family`, `type`; the answer brings it
  kConnect,  // connect(2) of a new socket of TCP, which the answer brings: `address`
  kBind,     // bind(2) of the socket `id`, of UDP: `address`
  kSend,     // sendto(2) of `size` bytes of `text` from the socket `id`, of UDP: `address`
};

struct NetworkRequest {
  NetworkRequestKind kind;
  std::int32_t family;
  std::int32_t type;
  std::int32_t flags;
  std::int32_t id;
  std::int32_t size;
  SocketAddress address;
  std::array<char, 32> service;  // ends with NUL; empty: none
  std::array<char, 1500> text;   // of kResolve ends with NUL; empty: none
};

struct FoundAddress {
  std::int32_t family;
  std::int32_t type;
  std::int32_t protocol;
  SocketAddress address;
};

struct NetworkAnswer {
  std::int32_t error;  // 0 or an errno; of kResolve an EAI_...
  std::int32_t id;     // of a socket of UDP
  std::int32_t count;  // of addresses
  std::array<FoundAddress, 16> found;
};

}  // namespace lookout
