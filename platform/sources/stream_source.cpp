#include "platform/sources/stream_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/open_file.h"
#include "platform/sources/video_module.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

// The length of each wait: a stop is seen within this time.
constexpr std::chrono::milliseconds kStreamWait{20};

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
  std::optional<OpenFile> fifo;
  if (!options_.path.empty()) {
    fifo.emplace(options_.path);
    if (fifo->fd() < 0) throw cannot_read(options_.path, {errno, std::generic_category()});
  }
  const int fd = fifo ? fifo->fd() : STDIN_FILENO;
  const auto source = open_video_stream({fd, what_, &stop_, options_.live}, options_.max_pixels);
  log_info("{}", source->info().description);
  Frame frame;
  while (!stop_ && source->read(frame, kStreamWait) == ReadStatus::kFrame) {
    // A live stream's older frames are dropped by who takes them, which counts them.
    while (!frames_.put_next(frame, kStreamWait) && !stop_) {
    }
  }
}

}  // namespace lookout
