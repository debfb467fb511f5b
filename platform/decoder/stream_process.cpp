#include "platform/decoder/stream_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>

#include "pipeline/core/log.h"
#include "pipeline/core/module.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kStreamPoll{20};  // between two looks at `stop`
constexpr int kMaxWarnings = 10;                      // of one process

std::filesystem::path program_of(const StreamProcessOptions& options) {
  return options.program.empty() ? module_path(kStreamProgram) : options.program;
}

template <std::size_t kSize>
void copy_text(const std::string& text, std::array<char, kSize>& target) {
  text.copy(target.data(), target.size() - 1);
}

}  // namespace

StreamProcess::StreamProcess(const StreamProcessOptions& options) try
    : options_(options),
      network_(options.udp),
      pixels_(options.max_pixels * kPixelBytes * kStreamSlots),
      process_(program_of(options), {pixels_.fd(), requests_.theirs()}) {
  requests_.close_theirs();
  info_.name = options_.shown;
  send_order();
  open();
} catch (const std::system_error& error) {
  // A limit of processes or of memory may pass.
  const bool is_missing = error.code() == std::errc::no_such_file_or_directory ||
                          error.code() == std::errc::permission_denied;
  throw Error(is_missing ? ErrorKind::kUnsupported : ErrorKind::kNoInput,
              fmt::format("{}: {} cannot be started: {}", options.shown,
                          program_of(options).string(), error.code().message()));
}

void StreamProcess::send_order() const {
  StreamOrder order{};
  if (options_.url.size() >= order.url.size()) fail("the address is too long");
  order.max_pixels = options_.max_pixels;
  order.timeout_ms = options_.timeout.count();
  order.udp = options_.udp ? 1 : 0;
  order.debug = is_logged(LogLevel::kDebug) ? 1 : 0;
  copy_text(options_.url, order.url);
  copy_text(options_.shown, order.shown);
  // If the process has ended, next_message() reports it.
  static_cast<void>(process_.send(order));
}

void StreamProcess::open() {
  for (;;) {
    const StreamMessage message = next_message();
    if (message.kind == StreamMessageKind::kReport && !started_) {
      check_report(message.number);
      started_ = true;
    } else if (message.kind == StreamMessageKind::kOpened && started_) {
      info_.live = message.number != 0;
      info_.description = printable(message.text.data());
      network_.settle(info_.live);
      return;
    } else {
      fail("its decoder sent nonsense");
    }
  }
}

void StreamProcess::check_report(int filter_error) const {
  static std::atomic<bool> logged{false};
  if (filter_error == 0 || logged.exchange(true)) return;
  log_warn("{} has no filter of system calls: {}; its other limits hold", kStreamProgram,
           std::generic_category().message(filter_error));
}

ReadStatus StreamProcess::read(Frame& frame, std::chrono::milliseconds /*timeout*/) {
  const StreamMessage message = next_message();
  if (message.kind == StreamMessageKind::kEnd) return ReadStatus::kEnd;
  if (message.kind != StreamMessageKind::kFrame) fail("its decoder sent nonsense");
  take(message, frame);
  static_cast<void>(process_.send(StreamRelease{message.number}));
  return ReadStatus::kFrame;
}

void StreamProcess::serve() {
  pollfd waiting{requests_.ours(), POLLIN, 0};
  while (poll(&waiting, 1, 0) > 0 && network_.serve(requests_.ours())) {
  }
}

// What is for the reader; lines are logged, connections are made, an error is thrown.
StreamMessage StreamProcess::next_message() {
  auto end = Clock::now() + options_.timeout + options_.grace;
  bool has_network = true;
  while (!*options_.stop) {
    if (Clock::now() > end) fail("its decoder does not answer");
    std::array<pollfd, 2> events{{{process_.socket(), POLLIN, 0}, {requests_.ours(), POLLIN, 0}}};
    if (poll(events.data(), has_network ? events.size() : 1,
             static_cast<int>(kStreamPoll.count())) <= 0) {
      continue;
    }
    if (events[1].revents != 0) {
      const auto begin = Clock::now();
      has_network = network_.serve(requests_.ours());
      end += Clock::now() - begin;  // the search for a name is not the process's time
    }
    if (events[0].revents == 0) continue;
    StreamMessage message{};
    auto count = recv(process_.socket(), &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0 && errno == ECONNRESET) {
      // It has ended with a message unread. Its own last ones come behind this error.
      count = recv(process_.socket(), &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
    }
    if (count <= 0) fail_ended();
    if (count != sizeof message || message.text.back() != '\0') fail("its decoder sent nonsense");
    if (message.kind == StreamMessageKind::kError) fail_with(message);
    if (message.kind != StreamMessageKind::kLog) return message;
    log(message);
  }
  fail("stopped");
}

void StreamProcess::log(const StreamMessage& message) {
  const bool is_warning = message.number != static_cast<std::int32_t>(LogLevel::kDebug);
  if (is_warning && ++lines_ > kMaxWarnings) return;
  log_at(is_warning ? LogLevel::kWarn : LogLevel::kDebug, "{}", printable(message.text.data()));
}

void StreamProcess::take(const StreamMessage& message, Frame& frame) {
  const bool is_plausible = message.number >= 0 && message.number < kStreamSlots &&
                            message.width > 0 && message.height > 0 &&
                            message.width <= options_.max_pixels / message.height;
  if (!is_plausible) fail("its decoder sent nonsense");
  frame.bgr.create(message.height, message.width, CV_8UC3);
  const std::int64_t begin = message.number * options_.max_pixels * kPixelBytes;
  const auto size = static_cast<std::int64_t>(frame.bgr.total() * frame.bgr.elemSize());
  if (!read_pixels(pixels_.fd(), begin, frame.bgr.data, size)) fail("its decoder sent nonsense");
  const auto now = Clock::now();
  last_captured_ = std::clamp(Clock::time_point(std::chrono::nanoseconds(message.captured)),
                              last_captured_, now);
  frame.captured = last_captured_;
  frame.capture_duration = std::clamp<Clock::duration>(
      std::chrono::nanoseconds(message.duration), Clock::duration::zero(), now - last_captured_);
  frame.media_time.reset();
  if (message.media_time >= 0) {
    last_media_time_ = std::max(last_media_time_, message.media_time);
    frame.media_time = std::chrono::nanoseconds(last_media_time_);
  }
  frame.origin.clear();
}

void StreamProcess::fail(const std::string& what) const {
  throw Error(ErrorKind::kNoInput, fmt::format("{}: {}", options_.shown, what));
}

// Only what a camera can cause is believed, and before it began, that FFmpeg is missing.
void StreamProcess::fail_with(const StreamMessage& message) const {
  const auto kind = static_cast<ErrorKind>(message.number);
  const std::string sentence = printable(message.text.data());
  if (kind == ErrorKind::kPermission || (kind == ErrorKind::kUnsupported && !started_)) {
    throw Error(kind, sentence);
  }
  throw Error(ErrorKind::kNoInput, sentence);
}

void StreamProcess::fail_ended() {
  const ChildEnd end = process_.end();
  if (!started_ && WIFEXITED(end.status)) {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}: {} does not start: {}", options_.shown,
                                                     kStreamProgram, end.text()));
  }
  fail("its decoder ended: " + end.text());
}

}  // namespace lookout
