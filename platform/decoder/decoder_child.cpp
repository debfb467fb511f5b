#include "platform/decoder/decoder_child.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kDecoderPoll{50};  // between two looks at `cancelled`
constexpr std::int64_t kOutputChannels = 3;

[[noreturn]] void throw_errno() { throw std::system_error(errno, std::generic_category()); }

void free_part(int fd, std::int64_t begin, std::int64_t size) {
  static_cast<void>(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, size));
}

// What a small picture took is used again.
void free_if_large(int fd) {
  struct stat facts {};
  if (fstat(fd, &facts) == 0 && std::int64_t{facts.st_blocks} * 512 > kDecoderKeptBytes) {
    free_part(fd, 0, facts.st_size);
  }
}

bool write_all(int fd, std::string_view bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const auto count =
        pwrite(fd, bytes.data() + written, bytes.size() - written, static_cast<off_t>(written));
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

SocketPair::SocketPair() {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()) != 0) throw_errno();
}

SocketPair::~SocketPair() {
  close(ends_[0]);
  close_theirs();
}

void SocketPair::close_theirs() {
  if (ends_[1] >= 0) close(ends_[1]);
  ends_[1] = -1;
}

SealedMemory::SealedMemory(std::int64_t size)
    : fd_(memfd_create("pixels", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (fd_ < 0) throw_errno();
  if (ftruncate(fd_, size) == 0 &&
      fcntl(fd_, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0) {
    return;
  }
  const int error = errno;
  close(fd_);
  throw std::system_error(error, std::generic_category());
}

SealedMemory::~SealedMemory() { close(fd_); }

DecoderChild::DecoderChild(const std::filesystem::path& program, std::int64_t max_pixels)
    : output_(max_pixels * kOutputChannels),
      process_(
          {{program.string()},
           {kNoBlasThreads},
           {socket_.theirs(), ProcessOptions::kDevNull, errors_.fd(), input_.fd(), output_.fd()}}) {
  socket_.close_theirs();
}

bool DecoderChild::is_quiet() const {
  pollfd event{socket_.ours(), POLLIN, 0};
  return poll(&event, 1, 0) == 0;
}

bool DecoderChild::send_order(std::string_view bytes, const DecodeLimits& limits) {
  if (!write_all(input_.fd(), bytes)) return false;
  DecodeOrder order{};
  order.number = ++orders_;
  order.size = bytes.size();
  order.pixels = limits.pixels;
  order.side = limits.side;
  order.scans = limits.scans;
  order.reduce = limits.reduce ? 1 : 0;
  std::strncpy(order.key.data(), limits.key, order.key.size() - 1);
  return send(socket_.ours(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof order;
}

DecoderChild::Wait DecoderChild::receive(DecoderReport& report, Clock::time_point end,
                                         const DecodeLimits& limits) const {
  return receive(&report, sizeof report, end, limits);
}

DecoderChild::Wait DecoderChild::receive(DecodeAnswer& answer, Clock::time_point end,
                                         const DecodeLimits& limits) const {
  return receive(&answer, sizeof answer, end, limits);
}

DecoderChild::Wait DecoderChild::receive(void* message, std::size_t size, Clock::time_point end,
                                         const DecodeLimits& limits) const {
  for (;;) {
    pollfd event{socket_.ours(), POLLIN, 0};
    if (poll(&event, 1, static_cast<int>(kDecoderPoll.count())) > 0) {
      const auto count = recv(socket_.ours(), message, size, MSG_DONTWAIT | MSG_TRUNC);
      if (count == static_cast<ssize_t>(size)) return Wait::kMessage;
      if (count > 0) return Wait::kNonsense;
      // A socket that is closed with a message unread resets the other end.
      return count < 0 && errno == ECONNRESET ? Wait::kUnread : Wait::kEnded;
    }
    if (limits.cancelled && limits.cancelled()) return Wait::kCancelled;
    if (Clock::now() > end) return Wait::kLate;
  }
}

// With pread(): a mapping would deliver SIGBUS where memory is short. A large picture is never in
// memory twice.
bool DecoderChild::take_pixels(cv::Mat& bgr) const {
  const auto size = static_cast<std::int64_t>(bgr.total() * bgr.elemSize());
  for (std::int64_t done = 0; done < size;) {
    const auto part = std::min(kDecoderSlice, size - done);
    const auto count = pread(output_.fd(), bgr.data + done, static_cast<std::size_t>(part), done);
    if (count != part) return false;
    if (size > kDecoderKeptBytes) free_part(output_.fd(), done, part);
    done += part;
  }
  return true;
}

void DecoderChild::free_memory() const {
  free_if_large(input_.fd());
  free_if_large(output_.fd());
}

}  // namespace lookout
