#include "platform/sources/stream_input.h"

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace lookout {
namespace {

constexpr int kBufferSize = 64 * 1024;
constexpr int kWaitMs = 20;

bool is_temporary(int error) { return error == EINTR || error == EAGAIN; }

}  // namespace

void StreamInput::Free::operator()(AVIOContext* context) const {
  av_freep(&context->buffer);
  avio_context_free(&context);
}

StreamInput::StreamInput(int fd, const std::atomic<bool>& stop)
    : fd_(fd),
      stop_(stop),
      context_(avio_alloc_context(static_cast<unsigned char*>(av_malloc(kBufferSize)), kBufferSize,
                                  0, this, &StreamInput::read, nullptr, nullptr)) {}

StreamInput::~StreamInput() = default;

int StreamInput::read(void* self, std::uint8_t* buffer, int size) {
  return static_cast<StreamInput*>(self)->read(buffer, size);
}

int StreamInput::read(std::uint8_t* buffer, int size) {
  while (!stop_) {
    pollfd waiting{fd_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kWaitMs);
    if (ready == 0 || (ready < 0 && is_temporary(errno))) continue;
    const ssize_t count = ready < 0 ? -1 : ::read(fd_, buffer, static_cast<std::size_t>(size));
    if (count > 0) {
      bytes_ += static_cast<std::uint64_t>(count);
      return static_cast<int>(count);
    }
    if (count == 0) {
      at_end_ = true;
      return AVERROR_EOF;
    }
    if (!is_temporary(errno)) return AVERROR(errno);
  }
  return AVERROR_EXIT;
}

}  // namespace lookout
