#include "platform/decoder/decoder_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/module.h"
#include "pipeline/core/printable.h"
#include "platform/decoder/decoder_child.h"
#include "platform/pictures/decode_upload.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kTimeBetweenLogs{10};
constexpr std::chrono::milliseconds kDecoderPoll{50};  // between two looks at `cancelled`
constexpr std::int64_t kOutputChannels = 3;
constexpr int kAttempts = 2;
constexpr int kCannotExecute = 127;  // exit status of posix_spawn()'s child and of the loader

bool is_plausible(const DecodeAnswer& answer, const DecodeLimits& limits) {
  if (answer.message.back() != '\0') return false;
  if (answer.problem != static_cast<std::int32_t>(DecodeProblem::kNone)) {
    return answer.problem > 0 &&
           answer.problem <= static_cast<std::int32_t>(DecodeProblem::kCancelled);
  }
  return answer.width > 0 && answer.height > 0 && answer.width <= limits.side &&
         answer.height <= limits.side && answer.width <= limits.pixels / answer.height;
}

bool was_killed(int wait_status) {
  return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
}

DecodedPicture failure(DecodeProblem problem, std::string message) {
  DecodedPicture picture;
  picture.fail(problem, std::move(message));
  return picture;
}

DecodedPicture failure(DecodeProblem problem) { return failure(problem, message_of(problem)); }

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

// kUnread: it ended before it took the order.
enum class DecoderProcess::Wait { kMessage, kEnded, kUnread, kLate, kCancelled, kNonsense };

// One process for pictures of at most `max_pixels`. Believes nothing: what the process does to its
// memory and its socket harms nobody.
class DecoderProcess::Child {
 public:
  Child(const std::filesystem::path& program, std::int64_t max_pixels)
      : output_(max_pixels * kOutputChannels), process_(program, {input_.fd(), output_.fd()}) {}

  // Whether it lives and has sent nothing.
  bool is_quiet() const {
    pollfd event{process_.socket(), POLLIN, 0};
    return poll(&event, 1, 0) == 0;
  }

  // False when it has ended, or there is no memory for the file.
  bool send_order(std::string_view bytes, const DecodeLimits& limits) {
    if (!write_all(input_.fd(), bytes)) return false;
    DecodeOrder order{};
    order.number = ++orders_;
    order.size = bytes.size();
    order.pixels = limits.pixels;
    order.side = limits.side;
    order.scans = limits.scans;
    order.reduce = limits.reduce ? 1 : 0;
    std::strncpy(order.key.data(), limits.key, order.key.size() - 1);
    return process_.send(order);
  }

  // The number of the last order; 0: there was none.
  std::uint64_t number() const { return orders_; }

  // Waits for one message until `end`, and asks `limits.cancelled` 20 times a second.
  template <typename Message>
  Wait receive(Message& message, Clock::time_point end, const DecodeLimits& limits) const {
    for (;;) {
      pollfd event{process_.socket(), POLLIN, 0};
      if (poll(&event, 1, static_cast<int>(kDecoderPoll.count())) > 0) {
        const auto count =
            recv(process_.socket(), &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
        if (count == sizeof message) return Wait::kMessage;
        if (count > 0) return Wait::kNonsense;
        // A socket that is closed with a message unread resets the other end.
        return count < 0 && errno == ECONNRESET ? Wait::kUnread : Wait::kEnded;
      }
      if (limits.cancelled && limits.cancelled()) return Wait::kCancelled;
      if (Clock::now() > end) return Wait::kLate;
    }
  }

  // Copies the output, as large as `bgr` is. False when it cannot be read. A large picture is never
  // in memory twice.
  bool take_pixels(cv::Mat& bgr) const {
    const auto size = static_cast<std::int64_t>(bgr.total() * bgr.elemSize());
    for (std::int64_t done = 0; done < size; done += kDecoderSlice) {
      const auto part = std::min(kDecoderSlice, size - done);
      if (!read_pixels(output_.fd(), done, bgr.data + done, part)) return false;
      if (size > kDecoderKeptBytes) free_part(output_.fd(), done, part);
    }
    return true;
  }

  // Frees the memory of a large picture.
  void free_memory() const {
    free_if_large(input_.fd());
    free_if_large(output_.fd());
  }

  ChildEnd end() { return process_.end(); }
  pid_t pid() const { return process_.pid(); }

 private:
  std::uint64_t orders_ = 0;
  MemoryFile input_;
  SealedMemory output_;
  DecoderChild process_;  // last: it gets the descriptors of the others
};

DecoderProcess::DecoderProcess(DecoderOptions options, DecoderCounters& counters)
    : options_([&options] {
        if (options.program.empty()) options.program = module_path(kDecoderProgram);
        return std::move(options);
      }()),
      counters_(counters) {}

DecoderProcess::~DecoderProcess() = default;

pid_t DecoderProcess::pid() const { return child_ ? child_->pid() : -1; }

DecodedPicture DecoderProcess::decode(std::string_view bytes, const DecodeLimits& asked) {
  DecodeLimits limits = asked;
  limits.pixels = std::min(asked.pixels, options_.max_pixels);
  // A decoder that ended before it took the order says nothing about the picture, nor does SIGKILL,
  // which comes from outside.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (!ensure_started(limits)) return failure(DecodeProblem::kCancelled);
    if (here_) return decode_here(bytes, limits);
    DecodeAnswer answer{};
    const auto end = Clock::now() + options_.deadline;
    const bool sent = child_->send_order(bytes, limits);
    const Wait outcome = sent ? child_->receive(answer, end, limits) : Wait::kUnread;
    if (outcome == Wait::kMessage) return take_answer(answer, limits);
    const bool is_innocent =
        outcome == Wait::kUnread || (outcome == Wait::kEnded && was_killed(child_->end().status));
    if (!is_innocent) return give_up(outcome);
    log_failure(end_child());
  }
  return give_up(Wait::kUnread);
}

DecodedPicture DecoderProcess::take_answer(const DecodeAnswer& answer, const DecodeLimits& limits) {
  if (answer.number != child_->number() || !is_plausible(answer, limits)) {
    return give_up(Wait::kNonsense);
  }
  DecodedPicture picture;
  picture.problem = static_cast<DecodeProblem>(answer.problem);
  picture.message = printable(answer.message.data());
  if (picture.problem == DecodeProblem::kNone) {
    picture.bgr.create(answer.height, answer.width, CV_8UC3);
    if (!child_->take_pixels(picture.bgr)) return give_up(Wait::kNonsense);
  }
  child_->free_memory();
  return picture;
}

// Returns false when that was cancelled.
bool DecoderProcess::ensure_started(const DecodeLimits& limits) {
  if (here_) return true;
  if (child_ && !child_->is_quiet()) log_failure(end_child());
  return child_ || start(limits);
}

bool DecoderProcess::start(const DecodeLimits& limits) {
  try {
    child_ = std::make_unique<Child>(options_.program, options_.max_pixels);
  } catch (const std::system_error& error) {
    ++counters_.unavailable;
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{} cannot be started: {}", options_.program.string(), error.code().message()));
  }
  DecoderReport report{};
  const Wait outcome = child_->receive(report, Clock::now() + options_.start_time, limits);
  if (outcome == Wait::kCancelled) {
    child_.reset();
    return false;
  }
  if (outcome != Wait::kMessage) {
    check_start(outcome);
    return true;
  }
  ++counters_.starts;
  if (report.filter_error != 0 && !std::exchange(logged_filter_, true)) {
    log_warn("{} has no filter of system calls: {}; its other limits hold", kDecoderProgram,
             std::generic_category().message(report.filter_error));
  }
  return true;
}

// Throws what the end of a process means that did not report; returns when an emulator runs
// lookout, which cannot run another program of its machine.
void DecoderProcess::check_start(Wait outcome) {
  const auto [status, errors] = child_->end();
  child_.reset();
  here_ = outcome == Wait::kEnded && errors.empty() && WIFEXITED(status) &&
          WEXITSTATUS(status) == kCannotExecute;
  if (here_) {
    log_warn("{} cannot be executed here: pictures of clients are decoded in this process",
             options_.program.string());
    return;
  }
  ++counters_.unavailable;
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{} does not start: {}", options_.program.string(),
                          !errors.empty()          ? errors
                          : outcome == Wait::kLate ? "it does not answer"
                                                   : describe_end(status)));
}

DecodedPicture DecoderProcess::decode_here(std::string_view bytes, DecodeLimits limits) const {
  const auto end = Clock::now() + options_.deadline;
  limits.cancelled = [end, asked = limits.cancelled] {
    return (asked && asked()) || Clock::now() > end;
  };
  return decode_upload(bytes, limits);
}

// Ends the process. Returns how that came.
std::string DecoderProcess::end_child() {
  const std::string text = child_->end().text();
  child_.reset();
  return text;
}

DecodedPicture DecoderProcess::give_up(Wait outcome) {
  const std::string end = child_ ? end_child() : "";
  switch (outcome) {
    case Wait::kCancelled:
      ++counters_.cancelled;
      return failure(DecodeProblem::kCancelled);
    case Wait::kLate: {
      ++counters_.late;
      const auto seconds = std::chrono::duration<double>(options_.deadline).count();
      log_failure(fmt::format("a picture took longer than {:g} s", seconds));
      return failure(DecodeProblem::kDamaged,
                     fmt::format("takes longer than {:g} s to decode", seconds));
    }
    case Wait::kEnded:
    case Wait::kUnread:
      ++counters_.ended;
      if (!end.empty()) log_failure(end);
      return failure(DecodeProblem::kDamaged, "cannot be decoded: the decoder ended");
    default:
      ++counters_.nonsense;
      log_failure("its answer was none");
      return failure(DecodeProblem::kDamaged, "cannot be decoded: the decoder failed");
  }
}

void DecoderProcess::log_failure(const std::string& what) {
  const auto now = Clock::now();
  if (now < next_log_) {
    ++unlogged_;
    return;
  }
  const std::string more = unlogged_ > 0 ? fmt::format(" (and {} times since)", unlogged_) : "";
  log_warn("{} ended and starts again with the next picture: {}{}", kDecoderProgram, what, more);
  next_log_ = now + kTimeBetweenLogs;
  unlogged_ = 0;
}

}  // namespace lookout
