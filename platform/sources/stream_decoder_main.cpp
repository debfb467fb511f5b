// lookout-stream-decoder: the process that reads and decodes what cameras on the network send,
// started by lookout.
//
// Whatever a camera, or who has taken its place, does to FFmpeg and to the libraries below it
// happens here, where there is no file, no camera, no other secret than the one of this address,
// and no network but the connections that lookout makes. lookout believes nothing that comes from
// here.
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "platform/decoder/decoder_sandbox.h"
#include "platform/decoder/stream_protocol.h"
#include "platform/sources/asked_network.h"
#include "platform/sources/video_module.h"

namespace lookout {
namespace {

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

int main() {
  // Without destructors of libraries, which may want what the sandbox took.
  _exit(lookout::run_decoder());
}
