#include "platform/decoder/decoder_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace lookout {
namespace {

// For the environment: OpenBLAS, which Debian's OpenCV brings, would start threads.
constexpr const char* kNoBlasThreads = "OPENBLAS_NUM_THREADS=1";

[[noreturn]] void throw_errno() { throw std::system_error(errno, std::generic_category()); }

// The descriptors of the process, from 0 on.
std::vector<int> descriptors(int socket, int errors, const std::vector<int>& further) {
  std::vector<int> all{socket, ProcessOptions::kDevNull, errors};
  all.insert(all.end(), further.begin(), further.end());
  return all;
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

bool read_pixels(int fd, std::int64_t begin, unsigned char* pixels, std::int64_t size) {
  for (std::int64_t done = 0; done < size;) {
    const auto count =
        pread(fd, pixels + done, static_cast<std::size_t>(size - done), begin + done);
    if (count <= 0) return false;
    done += count;
  }
  return true;
}

std::string ChildEnd::text() const {
  return errors.empty() ? describe_end(status)
                        : fmt::format("{}: {}", describe_end(status), errors);
}

DecoderChild::DecoderChild(const std::filesystem::path& program, const std::vector<int>& further)
    : process_({{program.string()},
                {kNoBlasThreads},
                descriptors(socket_.theirs(), errors_.fd(), further)}) {
  socket_.close_theirs();
}

ChildEnd DecoderChild::end() {
  const std::string errors = errors_.first_line();
  return {process_.kill(), errors};
}

}  // namespace lookout
