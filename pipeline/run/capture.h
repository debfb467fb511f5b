// The capture side of the pipeline: a thread that reads the source.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "pipeline/core/frame.h"
#include "pipeline/core/latest.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"
#include "pipeline/core/source.h"
#include "pipeline/core/wake_event.h"
#include "pipeline/profile/trace.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/frame_selector.h"
#include "pipeline/run/scheduling.h"

namespace lookout {

// The thread, "capture", has all signals blocked. It puts frames into frames() and closes that at
// the source's end or failure. All methods may be called by one other thread; `source` is used by
// the capture thread alone, and outlives this, as do `trace` (null: none), `selector` (null: none),
// which is told when the camera was away, and `wake`, which ends the waits of an idle source (null:
// it is never idle).
class Capture {
 public:
  Capture(Source& source, Scheduling scheduling, Trace* trace, FrameSelector* selector,
          const WakeEvent* wake);
  ~Capture() { stop(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Latest<Frame>& frames() { return frames_; }

  CaptureCounts counts() const;

  // Number of the captured frames if all of them were dropped, not wanted, or are among the
  // `classified` ones; nothing while one is on its way.
  std::optional<std::uint64_t> settled(std::uint64_t classified) const;

  // Overwrites `changes` with the camera's losses and returns before frame `sequence` was captured,
  // oldest first, and forgets them. There may be several during one inference.
  void take_changes(std::uint64_t sequence, std::vector<CameraStatus>& changes);

  // Whether the source is idle: what ends that interrupts frames().
  bool idle() const { return idle_; }

  // Whether the source's read() has not returned for longer than `limit`.
  bool hangs(Clock::time_point now, std::chrono::milliseconds limit) const {
    return now - Clock::time_point(reading_since_) > limit;
  }

  // Ends the thread and waits for it.
  void stop();

  // After stop(): the exception of the source or the scheduling; null: there was none.
  std::exception_ptr error() const { return error_; }

 private:
  struct Change {
    CameraStatus status;
    std::uint64_t next_frame;  // the first frame captured after it
  };

  // By the capture thread.
  void run();
  void read_all();
  void put(Frame& frame, bool live);
  bool is_traced(std::uint64_t frame) const;
  void record(Frame& frame);
  void note_status(bool online);

  Source& source_;
  const Scheduling scheduling_;
  Trace* const trace_;
  FrameSelector* const selector_;
  const WakeEvent* const wake_;
  Clock::time_point last_queued_;  // of the last traced frame; used by the capture thread alone
  Clock::duration
      cpu_before_read_{};  // of the capture thread, when it began to read a traced frame
  bool online_ = true;     // used by the capture thread alone
  Latest<Frame> frames_;
  Mutex changes_mutex_;
  std::vector<Change> changes_ GUARDED_BY(changes_mutex_);
  std::atomic<bool> stop_{false};
  std::atomic<bool> idle_{false};
  std::atomic<Clock::duration> reading_since_{Clock::duration::max()};  // max: it is not reading
  std::atomic<std::uint64_t> captured_{0};
  std::atomic<std::uint64_t> dropped_{0};  // by the source
  std::atomic<std::uint64_t> skipped_{0};
  std::exception_ptr error_;  // written by the thread, read after it was joined
  std::thread thread_;        // last: it uses all of the above
};

}  // namespace lookout
