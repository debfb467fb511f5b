#include "platform/sources/asked_network.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "platform/decoder/stream_protocol.h"

namespace lookout {
namespace {

// Written once, before there is another thread.
bool asking = false;
int certificates = -1;
int random_bytes = -1;

// Serves one request after the other, from any thread.
std::mutex& asking_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Maps our descriptors of UDP sockets to lookout's numbers. Used under the lock.
std::map<int, int>& datagram_ids() {
  static std::map<int, int> ids;
  return ids;
}

struct Answered {
  NetworkAnswer answer{};
  int fd = -1;
};

int descriptor_of(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  int fd = -1;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  }
  return fd;
}

// Under the lock.
Answered ask(const NetworkRequest& request) {
  Answered result;
  result.answer.error = request.kind == NetworkRequestKind::kResolve ? EAI_FAIL : EACCES;
  if (send(kStreamNetwork, &request, sizeof request, MSG_NOSIGNAL) != sizeof request) return result;
  Answered received;
  iovec bytes{&received.answer, sizeof received.answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> rights{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = rights.data();
  message.msg_controllen = rights.size();
  if (recvmsg(kStreamNetwork, &message, MSG_CMSG_CLOEXEC) != sizeof received.answer) return result;
  received.fd = descriptor_of(message);
  return received;
}

// Returns what the functions of libc do.
int result_of(const Answered& answered) {
  errno = answered.answer.error;
  return answered.answer.error == 0 ? 0 : -1;
}

bool set_address(NetworkRequest& request, const sockaddr* address, socklen_t size) {
  if (size > sizeof request.address.bytes) return false;
  request.address.size = size;
  std::memcpy(&request.address.bytes, address, size);
  return true;
}

template <std::size_t kSize>
bool set_text(const char* text, std::array<char, kSize>& target) {
  if (text == nullptr) return true;
  if (std::strlen(text) >= target.size()) return false;
  std::strncpy(target.data(), text, target.size() - 1);
  return true;
}

// Freed by freeaddrinfo() below: one allocation, with the address behind it.
addrinfo* new_address(const FoundAddress& found) {
  auto* memory = static_cast<char*>(std::calloc(1, sizeof(addrinfo) + sizeof(sockaddr_storage)));
  if (memory == nullptr) return nullptr;
  auto* made = reinterpret_cast<addrinfo*>(memory);
  made->ai_family = found.family;
  made->ai_socktype = found.type;
  made->ai_protocol = found.protocol;
  made->ai_addrlen = found.address.size;
  made->ai_addr = reinterpret_cast<sockaddr*>(memory + sizeof(addrinfo));
  std::memcpy(made->ai_addr, &found.address.bytes, sizeof(sockaddr_storage));
  return made;
}

int datagram_id(int fd) {
  const auto found = datagram_ids().find(fd);
  return found == datagram_ids().end() ? -1 : found->second;
}

int with_address(NetworkRequestKind kind, int fd, const sockaddr* address, socklen_t size) {
  NetworkRequest request{};
  request.kind = kind;
  if (!set_address(request, address, size)) {
    errno = EINVAL;
    return -1;
  }
  const std::lock_guard<std::mutex> lock(asking_mutex());
  request.id = datagram_id(fd);
  const Answered answered = ask(request);
  if (answered.fd >= 0) {
    dup3(answered.fd, fd, O_CLOEXEC);
    close(answered.fd);
  }
  return result_of(answered);
}

}  // namespace

void ask_for_network() {
  certificates = open(kTrustedCertificates, O_RDONLY | O_CLOEXEC);
  random_bytes = open(kRandomBytes, O_RDONLY | O_CLOEXEC);
  asking = true;
}

}  // namespace lookout

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int socket(int family, int type, int protocol) noexcept {
  if (!lookout::asking) return static_cast<int>(syscall(SYS_socket, family, type, protocol));
  lookout::NetworkRequest request{};
  request.kind = lookout::NetworkRequestKind::kSocket;
  request.family = family;
  request.type = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
  const std::lock_guard<std::mutex> lock(lookout::asking_mutex());
  const lookout::Answered answered = lookout::ask(request);
  if (lookout::result_of(answered) != 0) return -1;
  if (request.type == SOCK_DGRAM) lookout::datagram_ids()[answered.fd] = answered.answer.id;
  return answered.fd;
}

int connect(int fd, const sockaddr* address, socklen_t size) {
  if (!lookout::asking) return static_cast<int>(syscall(SYS_connect, fd, address, size));
  return lookout::with_address(lookout::NetworkRequestKind::kConnect, fd, address, size);
}

int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  if (!lookout::asking) return static_cast<int>(syscall(SYS_bind, fd, address, size));
  return lookout::with_address(lookout::NetworkRequestKind::kBind, fd, address, size);
}

ssize_t sendto(int fd, const void* bytes, size_t count, int flags, const sockaddr* address,
               socklen_t size) {
  if (!lookout::asking || address == nullptr) {
    return syscall(SYS_sendto, fd, bytes, count, flags, address, size);
  }
  lookout::NetworkRequest request{};
  request.kind = lookout::NetworkRequestKind::kSend;
  if (count > request.text.size() || !lookout::set_address(request, address, size)) {
    errno = EMSGSIZE;
    return -1;
  }
  std::memcpy(request.text.data(), bytes, count);
  request.size = static_cast<std::int32_t>(count);
  const std::lock_guard<std::mutex> lock(lookout::asking_mutex());
  request.id = lookout::datagram_id(fd);
  return lookout::result_of(lookout::ask(request)) == 0 ? static_cast<ssize_t>(count) : -1;
}

void freeaddrinfo(addrinfo* list) noexcept {
  while (list != nullptr) {
    addrinfo* next = list->ai_next;
    std::free(list);
    list = next;
  }
}

int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** list) {
  lookout::NetworkRequest request{};
  request.kind = lookout::NetworkRequestKind::kResolve;
  if (!lookout::set_text(name, request.text) || !lookout::set_text(service, request.service)) {
    return EAI_NONAME;
  }
  if (hints != nullptr) {
    request.family = hints->ai_family;
    request.type = hints->ai_socktype;
    request.flags = hints->ai_flags;
  }
  const std::lock_guard<std::mutex> lock(lookout::asking_mutex());
  const lookout::Answered answered = lookout::ask(request);
  if (answered.answer.error != 0) return answered.answer.error;
  *list = nullptr;
  for (std::int32_t i = answered.answer.count; i > 0; --i) {
    addrinfo* made =
        lookout::new_address(answered.answer.found.at(static_cast<std::size_t>(i - 1)));
    if (made == nullptr) return EAI_MEMORY;
    made->ai_next = *list;
    *list = made;
  }
  return *list == nullptr ? EAI_NONAME : 0;
}

// `mode` is for files that are made.
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : mode_t{0};
  va_end(rest);
  if (!lookout::asking) {
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode));
  }
  if (std::strcmp(path, lookout::kRandomBytes) == 0) return dup(lookout::random_bytes);
  errno = EACCES;
  return -1;
}

FILE* fopen(const char* path, const char* mode) {
  if (!lookout::asking) {
    static const auto real =
        reinterpret_cast<FILE* (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "fopen"));
    return real(path, mode);
  }
  const bool is_known = std::strcmp(path, lookout::kTrustedCertificates) == 0 && mode[0] == 'r';
  if (!is_known || lookout::certificates < 0) {
    errno = is_known ? ENOENT : EACCES;
    return nullptr;
  }
  lseek(lookout::certificates, 0, SEEK_SET);
  return fdopen(dup(lookout::certificates), "r");
}

// For libraries that were compiled for large files.
FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
