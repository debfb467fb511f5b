#include "platform/sources/stream_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/sources/video_module.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

// The length of each wait: a stop is seen within this time.
constexpr std::chrono::milliseconds kStreamWait{20};

// A FIFO, opened while it lives, or stdin.
class Descriptor {
 public:
  // Does not wait for a FIFO's writer.
  explicit Descriptor(const std::string& path) : is_stdin_(path.empty()) {
    if (is_stdin_) return;
    fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) throw cannot_read(path, {errno, std::generic_category()});
  }
  ~Descriptor() {
    if (!is_stdin_) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int fd() const { return fd_; }

 private:
  const bool is_stdin_;
  int fd_ = STDIN_FILENO;
};

}  // namespace

StreamSource::StreamSource(const StreamOptions& options)
    : options_(options),
      what_(options.path.empty() ? "the stream on stdin" : "the stream in " + options.path) {
  check_video_module();
  const bool is_stdin = options.path.empty();
  info_.name = is_stdin ? "stdin" : std::filesystem::path(options.path).stem().string();
  info_.description = fmt::format("{}{}", what_.substr(4), options.live ? ", live" : "");
  info_.live = options.live;
}

ReadStatus StreamSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  if (!is_running() && !stop_) {
    start("stream", [this] { read_all(); });
  }
  return ThreadedSource::read(frame, std::min(timeout, kStreamWait));
}

void StreamSource::read_all() {
  const Descriptor descriptor(options_.path);
  const auto source =
      open_video_stream({descriptor.fd(), what_, &stop_, options_.live}, options_.max_pixels);
  log_info("{}", source->info().description);
  Frame frame;
  while (!stop_ && source->read(frame, kStreamWait) == ReadStatus::kFrame) {
    // A live stream's older frames are dropped by who takes them, which counts them.
    while (!frames_.put_next(frame, kStreamWait) && !stop_) {
    }
  }
}

}  // namespace lookout
