// lookout-stream-decoder: the process that reads and decodes what cameras on the network send,
// started by lookout.
//
// Whatever a camera, or who has taken its place, does to FFmpeg and to the libraries below it
// happens here, where there is no file, no camera, no other secret than the one of this address,
// and no network but the connections that lookout makes. lookout believes nothing that comes from
// here.
//
// FFmpeg uses the network, and reads random bytes and the certificates that this system trusts, by
// functions of libc that this program defines: socket, connect, bind, sendto, getaddrinfo,
// freeaddrinfo, fopen and open64. The dynamic loader takes them for those of libc in all libraries.
// They ask lookout (StreamNetwork) through kStreamNetwork and wait for its answer, in any thread;
// the two files are opened before.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/decoder/decoder_sandbox.h"
#include "platform/decoder/stream_protocol.h"
#include "platform/sources/video_module.h"

namespace lookout {
namespace {

// The file that Debian's GnuTLS takes certificates from.
constexpr const char* kTrustedCertificates = "/etc/ssl/certs/ca-certificates.crt";

// Without them FFmpeg makes its own of the times that a busy loop takes.
constexpr const char* kRandomBytes = "/dev/urandom";

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

// From now on the functions ask, and fopen() and open64() know one file each. Called once, by the
// only thread, before the process gives up its rights.
void ask_for_network() {
  certificates = open(kTrustedCertificates, O_RDONLY | O_CLOEXEC);
  random_bytes = open(kRandomBytes, O_RDONLY | O_CLOEXEC);
  asking = true;
}

constexpr int kFailed = 1;  // an exit status
// What a decoder may take besides the pixels that lookout reads. H.264 and HEVC keep up to 17
// frames, of 1.5 to 6 bytes a pixel.
constexpr std::int64_t kBaseMemory = 128 << 20;
constexpr std::int64_t kMemoryOfPixel = 40;  // bytes
constexpr std::int64_t kMaxErrorText = 64 << 10;
constexpr std::size_t kThreadStack = 2 << 20;

StreamMessage new_message(StreamMessageKind kind, int number, std::string_view text = {}) {
  StreamMessage message{};
  message.kind = kind;
  message.number = number;
  text.copy(message.text.data(), message.text.size() - 1);
  return message;
}

bool tell(const StreamMessage& message) {
  return send(kStreamSocket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

// lookout shows the lines.
class TellingSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& line) override {
    const auto level = line.level <= spdlog::level::debug ? LogLevel::kDebug : LogLevel::kWarn;
    tell(new_message(StreamMessageKind::kLog, static_cast<int>(level),
                     {line.payload.data(), line.payload.size()}));
  }
  void flush_() override {}
};

void tell_lines(bool debug) {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("decoder", std::make_shared<TellingSink>()));
  spdlog::set_level(debug ? spdlog::level::debug : spdlog::level::warn);
}

// The memory of the frames, which lookout reads.
class Slots {
 public:
  explicit Slots(std::int64_t max_pixels)
      : size_(static_cast<std::size_t>(max_pixels) * kPixelBytes) {
    data_ =
        mmap(nullptr, size_ * kStreamSlots, PROT_READ | PROT_WRITE, MAP_SHARED, kStreamPixels, 0);
  }

  bool is_there() const { return data_ != MAP_FAILED; }

  // The next slot in turn, once lookout has read it. Returns -1 when lookout has ended.
  int wait_for_next() {
    while (is_full_.at(next_)) {
      StreamRelease release{};
      if (recv(kStreamSocket, &release, sizeof release, 0) != sizeof release) return -1;
      is_full_.at(static_cast<std::size_t>(release.slot)) = false;
    }
    return static_cast<int>(next_);
  }

  // A picture of the same size is decoded where lookout reads it.
  cv::Mat next(const cv::Size& size) const {
    return {size, CV_8UC3, static_cast<unsigned char*>(data_) + next_ * size_};
  }

  // Fills it. Throws Error(kNoInput).
  void put(const cv::Mat& bgr) {
    const std::size_t size = bgr.total() * bgr.elemSize();
    if (size > size_) throw Error(ErrorKind::kNoInput, "a frame is too large");
    unsigned char* target = static_cast<unsigned char*>(data_) + next_ * size_;
    if (bgr.data != target) std::memcpy(target, bgr.data, size);
    is_full_.at(next_) = true;
    next_ = (next_ + 1) % kStreamSlots;
  }

 private:
  std::size_t size_;  // bytes of a slot
  void* data_;
  std::array<bool, kStreamSlots> is_full_{};
  std::size_t next_ = 0;
};

std::int64_t nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

// Returns at the end of the video, or of lookout.
void send_frames(Source& source, Slots& slots) {
  Frame frame;
  cv::Size size(1, 1);
  for (int slot = 0; (slot = slots.wait_for_next()) >= 0;) {
    frame.bgr = slots.next(size);
    if (source.read(frame, std::chrono::milliseconds(0)) != ReadStatus::kFrame) {
      tell(new_message(StreamMessageKind::kEnd, 0));
      return;
    }
    size = frame.bgr.size();
    StreamMessage message = new_message(StreamMessageKind::kFrame, slot);
    message.width = size.width;
    message.height = size.height;
    message.captured = nanoseconds(frame.captured.time_since_epoch());
    message.duration = nanoseconds(frame.capture_duration);
    message.media_time = frame.media_time ? frame.media_time->count() : -1;
    slots.put(frame.bgr);
    if (!tell(message)) return;
  }
}

// The kernel ends this process first when memory is short. Never fails where that matters.
void offer_to_end() {
  if (std::FILE* file = std::fopen("/proc/self/oom_score_adj", "we")) {
    std::fputs("1000", file);
    std::fclose(file);
  }
}

std::int64_t memory_limit(std::int64_t max_pixels) {
  const std::int64_t half = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 2;
  return kBaseMemory + std::min(max_pixels * kMemoryOfPixel, half);
}

void decode(const StreamOrder& order) {
  check_video_module();
  Slots slots(order.max_pixels);
  if (!slots.is_there()) throw Error(ErrorKind::kNoInput, "there is no memory for frames");
  // One heap for all threads, and stacks that count little.
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);
  pthread_setattr_default_np(&attributes);
  offer_to_end();
  ask_for_network();
  const int error = enter_sandbox(memory_limit(order.max_pixels), kMaxErrorText, Sandbox::kStreams);
  if (!tell(new_message(StreamMessageKind::kReport, error))) return;

  static const std::atomic<bool> never{false};  // lookout ends this process
  const NetworkVideo video{order.url.data(), order.shown.data(), order.udp != 0,
                           std::chrono::milliseconds(order.timeout_ms), &never};
  const auto source = open_network_video(video, order.max_pixels);
  const SourceInfo& info = source->info();
  if (!tell(new_message(StreamMessageKind::kOpened, info.live ? 1 : 0, info.description))) return;
  send_frames(*source, slots);
}

// Returns an exit status.
int run_decoder() {
  // Also when a service is stopped, lookout ends this process.
  std::signal(SIGTERM, SIG_IGN);
  StreamOrder order{};
  if (recv(kStreamSocket, &order, sizeof order, 0) != sizeof order) {
    std::fputs("lookout-stream-decoder is a part of lookout\n", stderr);
    return kFailed;
  }
  tell_lines(order.debug != 0);
  try {
    decode(order);
  } catch (const Error& error) {
    tell(new_message(StreamMessageKind::kError, error.exit_status(), error.what()));
  } catch (const std::exception& error) {
    tell(new_message(StreamMessageKind::kError, static_cast<int>(ErrorKind::kNoInput),
                     fmt::format("{}: its decoder failed: {}", order.shown.data(), error.what())));
  }
  return 0;
}

}  // namespace
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

int main() {
  // Without destructors of libraries, which may want what the sandbox took.
  _exit(lookout::run_decoder());
}
