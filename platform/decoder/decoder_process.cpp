#include "platform/decoder/decoder_process.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/module.h"
#include "pipeline/core/printable.h"
#include "platform/pictures/decode_upload.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kTimeBetweenLogs{10};
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

}  // namespace

DecoderProcess::DecoderProcess(DecoderOptions options, DecoderCounters& counters)
    : options_([&options] {
        if (options.program.empty()) options.program = module_path(kDecoderProgram);
        return std::move(options);
      }()),
      counters_(counters) {}

DecodedPicture DecoderProcess::decode(std::string_view bytes, const DecodeLimits& asked) {
  DecodeLimits limits = asked;
  limits.pixels = std::min(asked.pixels, options_.max_pixels);
  const auto end = Clock::now() + options_.deadline;
  // A decoder that ended before it took the order says nothing about the picture, nor does SIGKILL,
  // which comes from outside.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (!ensure_started(limits)) return failure(DecodeProblem::kCancelled);
    if (here_) return decode_here(bytes, limits);
    DecodeAnswer answer{};
    const bool sent = child_->send_order(bytes, limits);
    const Wait outcome = sent ? child_->receive(answer, end, limits) : Wait::kUnread;
    if (outcome == Wait::kMessage) return take_answer(answer, limits);
    const bool is_innocent =
        outcome == Wait::kUnread || (outcome == Wait::kEnded && was_killed(child_->kill()));
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
    child_.emplace(options_.program, options_.max_pixels);
  } catch (const std::system_error& error) {
    ++counters_.unavailable;
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{} cannot be started: {}", options_.program.string(), error.code().message()));
  }
  DecoderReport report{};
  const Wait outcome = child_->receive(report, Clock::now() + options_.deadline, limits);
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
  const std::string errors = child_->errors();
  const int status = child_->kill();
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
  const std::string errors = child_->errors();
  const int status = child_->kill();
  child_.reset();
  return errors.empty() ? describe_end(status)
                        : fmt::format("{}: {}", describe_end(status), errors);
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
