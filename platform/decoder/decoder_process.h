// Pictures of strangers are decoded in a process of its own: lookout-decoder, seen from lookout.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/core/frame.h"
#include "platform/decoder/decoder_protocol.h"
#include "platform/pictures/decoded_picture.h"

namespace lookout {

// For all decoders of a run. Any thread.
struct DecoderCounters {
  std::atomic<std::uint64_t> starts{0};
  // Pictures that a decoder did not answer for, by the reason.
  std::atomic<std::uint64_t> ended{0};        // it ended by itself, or something killed it
  std::atomic<std::uint64_t> late{0};         // the deadline was over
  std::atomic<std::uint64_t> nonsense{0};     // its answer was none
  std::atomic<std::uint64_t> cancelled{0};    // nobody waited any more
  std::atomic<std::uint64_t> unavailable{0};  // it could not be started
};

struct DecoderOptions {
  std::filesystem::path program;               // empty: lookout-decoder of this build
  std::int64_t max_pixels = 25'000'000;        // of any picture
  std::chrono::milliseconds deadline{10'000};  // for a picture, without the start
  std::chrono::milliseconds start_time{10'000};
};

// Starts the process with the first picture, keeps it for the next ones, and starts it again with
// the next picture when it has ended. It has a picture at a time and nothing else: no file, no
// network, no other descriptor. What comes from it is checked. One that answers nonsense or too
// late is killed. Failures are logged, at most once in ten seconds.
//
// Used by the thread that made it, with which the process ends.
class DecoderProcess {
 public:
  // `counters` outlives this.
  DecoderProcess(DecoderOptions options, DecoderCounters& counters);
  ~DecoderProcess();
  DecoderProcess(const DecoderProcess&) = delete;
  DecoderProcess& operator=(const DecoderProcess&) = delete;

  // As decode_upload(), but `asked.cancelled` is asked 20 times a second, and ends the process. A
  // picture that the process does not survive, or that it does not decode in time, is kDamaged.
  // `bytes` is not empty. Throws Error when the process cannot be started.
  DecodedPicture decode(std::string_view bytes, const DecodeLimits& asked);

  pid_t pid() const;  // -1: there is none

 private:
  class Child;
  enum class Wait;

  bool ensure_started(const DecodeLimits& limits);
  bool start(const DecodeLimits& limits);
  void check_start(Wait outcome);
  DecodedPicture take_answer(const DecodeAnswer& answer, const DecodeLimits& limits);
  DecodedPicture decode_here(std::string_view bytes, DecodeLimits limits) const;
  DecodedPicture give_up(Wait outcome);
  std::string end_child();
  void log_failure(const std::string& what);

  const DecoderOptions options_;
  DecoderCounters& counters_;
  std::unique_ptr<Child> child_;
  bool here_ = false;
  bool logged_filter_ = false;
  std::uint64_t unlogged_ = 0;
  Clock::time_point next_log_{};
};

}  // namespace lookout
