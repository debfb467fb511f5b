#include "platform/teach/teach_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace lookout {
namespace {

constexpr std::size_t kMaxLine = 64 << 10;  // bytes
// For the environment: OpenBLAS, which Debian's OpenCV brings, would start threads.
constexpr const char* kOneThread = "OPENBLAS_NUM_THREADS=1";

[[noreturn]] void throw_errno() { throw std::system_error(errno, std::generic_category()); }

}  // namespace

Pipe::Pipe() {
  if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw_errno();
}

Pipe::~Pipe() {
  close_reader();
  close_writer();
}

void Pipe::close_end(int& end) {
  if (end >= 0) close(end);
  end = -1;
}

void rewrite(const MemoryFile& file, std::string_view bytes) {
  if (ftruncate(file.fd(), 0) != 0) throw_errno();
  for (std::size_t written = 0; written < bytes.size();) {
    const auto count = pwrite(file.fd(), bytes.data() + written, bytes.size() - written,
                              static_cast<off_t>(written));
    if (count <= 0) throw_errno();
    written += static_cast<std::size_t>(count);
  }
}

TeachChild::TeachChild(const std::vector<std::string>& command, int input,
                       const std::vector<int>& more) {
  std::vector<int> descriptors{input, output_.writer(), errors_.fd()};
  descriptors.insert(descriptors.end(), more.begin(), more.end());
  process_.emplace(ProcessOptions{command, {kOneThread}, std::move(descriptors)});
  output_.close_writer();
}

TeachChild::Wait TeachChild::read(std::string& line, const WakeEvent& wake,
                                  std::optional<std::chrono::milliseconds> patience) {
  for (;;) {
    const auto end = text_.find('\n');
    if (end != std::string::npos) {
      line = text_.substr(0, end);
      text_.erase(0, end + 1);
      return Wait::kLine;
    }
    std::array<pollfd, 2> events{{{output_.reader(), POLLIN, 0}, {wake.fd(), POLLIN, 0}}};
    const int ready =
        poll(events.data(), events.size(), patience ? static_cast<int>(patience->count()) : -1);
    if (ready < 0) continue;
    if (ready == 0) return Wait::kLate;
    if (events[1].revents != 0) return Wait::kCancelled;
    std::array<char, 4096> part{};
    const auto count = ::read(output_.reader(), part.data(), part.size());
    if (count <= 0 || text_.size() > kMaxLine) return Wait::kEnded;
    text_.append(part.data(), static_cast<std::size_t>(count));
  }
}

std::string TeachChild::end() {
  constexpr std::chrono::seconds kPatience{5};
  process_->wait(kPatience);
  const std::string errors = errors_.first_line();
  const std::string end = describe_end(process_->kill());
  return errors.empty() ? end : fmt::format("{}: {}", end, errors);
}

}  // namespace lookout
