// A camera that may go away and come back.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "pipeline/core/error.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/source.h"
#include "pipeline/core/wake_event.h"

namespace lookout {

// Notices a camera that sends fewer frames than it promised.
class RateWatch {
 public:
  // The first frames of a camera come irregularly and are ignored. Then the rate is measured over a
  // window. Two slow windows in a row count; a single one may mean that the process was stopped.
  static constexpr std::chrono::seconds kSettling{2};
  static constexpr std::chrono::seconds kWindow{5};
  static constexpr double kTooFew = 0.9;  // of the frames that were expected

  // Call after a pause. frame() still returns a rate only once.
  void restart();

  // Call with the time of each frame and the frames a second that are expected (0: any will do).
  // Returns the measured rate the first time that it is too low.
  std::optional<double> frame(Clock::time_point captured, double expected);

 private:
  std::optional<Clock::time_point> first_;  // since the last restart
  std::optional<Clock::time_point> window_start_;
  std::int64_t periods_ = 0;  // in the window
  bool was_slow_ = false;     // in the window before
  bool logged_ = false;
};

struct ReconnectOptions {
  std::string name;             // of the camera; empty: the name of the first opening
  bool wait_for_first = false;  // treat a camera that is absent at first as lost
  std::chrono::milliseconds give_up_after{0};  // time without a frame; 0: never
  // A camera counts as lost when it sends no frame for this time and for this many periods.
  std::chrono::milliseconds min_stall{2000};
  int stall_periods = 30;
  // Used in place of min_stall for the first frame after an opening, since many cameras start
  // slowly, and for the next whole frame among damaged ones.
  std::chrono::milliseconds start_time{10'000};
  // Between attempts to open it again. Doubled each time, and reset once the camera has sent frames
  // for longer than max_delay.
  std::chrono::milliseconds first_delay{250};
  std::chrono::milliseconds max_delay{10'000};
  const WakeEvent* wake = nullptr;  // ends a wait for the next attempt; null: nothing does
  // Whether the frames have been equal to the last byte for long: a camera with a sensor hangs
  // then, and is opened again. Called after each frame. Empty: nobody looks.
  std::function<bool()> is_frozen;
  // The clock and a wait on it. Tests pass their own.
  std::function<Clock::time_point()> now = Clock::now;
  std::function<void(Clock::duration)> sleep;  // empty: waits on the calling thread
};

// Live. Logs one line each when
// - the camera is lost (before it is closed) and when it is back,
// - the kind of reason for its absence changes for long, once for each kind and loss,
// - it gives less than was asked for or granted, once for each shortfall,
// - a frame is damaged, once between two losses.
// The open camera is destroyed before it is opened again, so that the kernel can give a returning
// camera its old name.
class ReconnectingSource : public Source {
 public:
  // Opens the camera. Throws Error when it is absent, may not be used or is no camera. A camera
  // that is connected later, by its read(), is not online() until then, and counts as absent.
  using Open = std::function<std::unique_ptr<Source>()>;

  // Opens the camera and throws the errors of `open`. With wait_for_first it waits for a camera
  // that is absent, in use or not permitted, but not for a device that is no camera
  // (UnusableDevice) nor for a missing module (kUnsupported).
  explicit ReconnectingSource(Open open, ReconnectOptions options = {});

  // The facts of the first opening, even if another camera comes back. They have only the name
  // until there was one.
  const SourceInfo& info() const override { return info_; }

  // A stall is measured from the end of the first call after an opening, since that starts the
  // camera. Damaged frames (kSkipped) are a sign of life, but a camera that sends only those for
  // options.start_time is lost as well.
  //
  // While the camera is away, it waits, tries to open it from time to time, and returns kTimeout.
  // An attempt may take longer than `timeout`. Throws Error(kDeviceLost) when the camera was away
  // for longer than options.give_up_after. Errors that do not mean an absent camera are passed on;
  // kUsage means one after the first attempt.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;

  // False from the loss to the first frame after it.
  bool online() const override { return was_there_ && !lost_since_; }

  // Between attempts to open it.
  bool idle() const override { return camera_ == nullptr && options_.wake != nullptr; }

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
  std::unique_ptr<Source> camera_;  // null while the camera is away
  SourceInfo info_;
  std::optional<Clock::time_point> last_sign_;      // of any frame; empty before the first read
  std::optional<Clock::time_point> last_frame_;     // the last whole one since the opening
  std::optional<Clock::time_point> damaged_since_;  // empty while whole frames come
  Clock::time_point back_since_;                    // the last return, or the first opening
  std::optional<Clock::time_point> lost_since_;     // empty while frames come
  bool was_there_ = false;                          // since the start
  std::string reason_;                              // of its absence, as logged last
  std::set<ErrorKind> logged_kinds_;                // of reasons, since the loss
  ErrorKind last_kind_{};                           // of the last attempt that failed
  Clock::time_point kind_since_;                    // the first of these in a row
  Clock::time_point next_attempt_;
  Clock::duration delay_;
  bool damage_noted_ = false;  // since the last loss
  std::set<std::string> logged_shortfalls_;
  RateWatch rate_;
};

}  // namespace lookout
