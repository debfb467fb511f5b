// A camera that may go away and come back.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "pipeline/error.h"
#include "pipeline/source.h"
#include "platform/cameras/rate_watch.h"

namespace lookout {

struct ReconnectOptions {
  std::string name;             // of the camera; empty: that of the first opening
  bool wait_for_first = false;  // a camera that is not there at first is one that was lost
  std::chrono::milliseconds give_up_after{0};  // without a frame for so long; 0: never
  // A camera that sends no frame for this time, or for this many of its periods if that is longer,
  // is lost, too.
  std::chrono::milliseconds shortest_stall{2000};
  int stall_periods = 30;
  // Instead of the shortest stall, for the first frame after an opening, since many cameras start
  // slowly, and for a whole one among damaged ones.
  std::chrono::milliseconds start_time{10'000};
  // Between attempts to open it again: doubled each time, and back to the first for a camera that
  // sent frames for longer than the longest.
  std::chrono::milliseconds first_delay{250};
  std::chrono::milliseconds longest_delay{10'000};
  // Time, and waiting for it to pass.
  std::function<Clock::time_point()> now = Clock::now;
  std::function<void(Clock::duration)> sleep;  // empty: that of the calling thread
};

// Live. Loss, before the camera is closed, and return are logged, a line each; in between, once for
// each kind of Error, another reason why the camera does not come, when it lasts; that a camera
// gives less than it was asked for, or less than it granted, is logged once, and not again when it
// comes back; that a frame was damaged, once between two losses. What is open() is destroyed before
// it is opened anew, so that the kernel can give a camera that comes back its old name.
class ReconnectingSource : public Source {
 public:
  // Opens the camera; throws Error when it is not there, may not be used or is none.
  using Open = std::function<std::unique_ptr<Source>()>;

  // Opens for the first time: throws what `open` throws. With wait_for_first a camera that is
  // absent, in use or not readable for us yet is waited for instead; a device that is no camera
  // (UnusableDevice) is not, and neither is a module that is missing (kUnsupported).
  explicit ReconnectingSource(Open open, ReconnectOptions options = {});

  // That of the first opening, whatever comes back; of a camera that was not there its name alone.
  const SourceInfo& info() const override { return info_; }

  // The time for a stall starts with the end of the first call after an opening, in which the
  // camera may be started. Damaged frames, kSkipped, end it, but not for ever: a camera that sends
  // nothing else is lost, too.
  //
  // While the camera is away: waits, sometimes opens, returns kTimeout. To open a camera may take
  // longer than `timeout`. Throws Error(kDeviceLost) when it was away for longer than the options
  // allow, and passes on errors of other kinds than "not there" from the camera.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

  // False from the loss to the first frame after it.
  bool online() const override { return !lost_since_; }

 private:
  ReadStatus read_camera(Frame& frame, std::chrono::milliseconds timeout);
  void opened();
  void check_life(Clock::time_point now);
  void close(ErrorKind kind, const std::string& why);
  void note_loss(ErrorKind kind, const std::string& why);
  void note_attempt(ErrorKind kind, const std::string& why);
  void note_return(Clock::time_point now);
  void note_shortfall();
  void note_damage(Clock::time_point now);
  void check_patience() const;
  void try_to_open();
  bool may_pass(const Error& error) const;
  void wait(std::chrono::milliseconds timeout);
  Clock::duration periods() const;

  Open open_;
  ReconnectOptions options_;
  std::unique_ptr<Source> camera_;  // null while there is nothing to read from
  SourceInfo info_;
  std::optional<Clock::time_point> last_sign_;      // of life; nothing before the first read
  std::optional<Clock::time_point> last_frame_;     // a whole one, since it was opened
  std::optional<Clock::time_point> damaged_since_;  // nothing while whole frames come
  Clock::time_point back_since_;                    // the last return, or the first opening
  std::optional<Clock::time_point> lost_since_;     // nothing while frames come
  bool was_there_ = false;                          // since the start
  std::string reason_;                              // why it is away, the last that was said
  std::set<ErrorKind> said_kinds_;                  // of reasons, since the loss
  ErrorKind last_kind_{};                           // of the last attempt that failed
  Clock::time_point kind_since_;                    // the first of these in a row
  Clock::time_point next_attempt_;
  Clock::duration delay_;
  bool damage_noted_ = false;  // since the last loss
  std::set<std::string> logged_shortfalls_;
  RateWatch rate_;
};

}  // namespace lookout
