#include "pipeline/run/capture.h"

#include <algorithm>
#include <utility>

#include "pipeline/core/thread.h"

namespace lookout {
namespace {

// For an idle source, whose wait is ended by a WakeEvent.
constexpr std::chrono::seconds kMaxIdleRead{5};

}  // namespace

Capture::Capture(Source& source, Scheduling scheduling, Trace* trace, FrameSelector* selector,
                 const WakeEvent* wake)
    : source_(source),
      scheduling_(std::move(scheduling)),
      trace_(trace),
      selector_(selector),
      wake_(wake),
      thread_(start_thread("capture", [this] { run(); })) {}

CaptureCounts Capture::counts() const {
  CaptureCounts counts;
  // In this order: a frame is captured before it can be dropped or unwanted, so that the sum never
  // exceeds `captured`.
  counts.dropped = frames_.dropped() + dropped_;
  if (selector_ != nullptr) counts.unwanted = selector_->unwanted();
  counts.captured = captured_;
  counts.skipped = skipped_;
  return counts;
}

std::optional<std::uint64_t> Capture::settled(std::uint64_t classified) const {
  const CaptureCounts now = counts();
  if (now.captured != classified + now.unwanted + now.dropped) return std::nullopt;
  return now.captured;
}

void Capture::take_changes(std::uint64_t sequence, std::vector<CameraStatus>& changes) {
  changes.clear();
  const MutexLock lock(changes_mutex_);
  const auto end = std::find_if(changes_.begin(), changes_.end(), [sequence](const Change& change) {
    return change.next_frame > sequence;
  });
  for (auto change = changes_.begin(); change != end; ++change) changes.push_back(change->status);
  changes_.erase(changes_.begin(), end);
}

void Capture::stop() {
  stop_ = true;
  if (wake_ != nullptr) wake_->wake();
  if (thread_.joinable()) thread_.join();
}

void Capture::run() {
  try {
    schedule_this_thread(scheduling_);
    read_all();
  } catch (...) {
    error_ = std::current_exception();
  }
  frames_.close();
}

void Capture::read_all() {
  const bool live = source_.info().live;
  Frame frame;
  while (!stop_) {
    if (is_traced(captured_)) cpu_before_read_ = thread_cpu_time();
    reading_since_ = Clock::now().time_since_epoch();
    const ReadStatus status = source_.read(frame, idle_ ? kMaxIdleRead : kMaxWait);
    reading_since_ = Clock::duration::max();
    note_status(source_.online());
    // The frame loop waits for long, too. It looks at what has woken the source.
    idle_ = source_.idle();
    if (idle_) frames_.interrupt();
    switch (status) {
      case ReadStatus::kFrame:
        put(frame, live);
        break;
      case ReadStatus::kTimeout:
        break;
      case ReadStatus::kDropped:
        ++captured_;
        ++dropped_;
        break;
      case ReadStatus::kSkipped:
        ++skipped_;
        break;
      case ReadStatus::kEnd:
        return;
    }
  }
}

void Capture::put(Frame& frame, bool live) {
  frame.sequence = captured_++;
  record(frame);
  if (live) {
    frames_.put_newest(frame);
    return;
  }
  while (!frames_.put_next(frame, kMaxWait) && !stop_) {
  }
}

bool Capture::is_traced(std::uint64_t frame) const {
  return trace_ != nullptr && trace_->traces(frame);
}

// The thread's CPU time is that of the whole read. Waiting for the camera takes next to none.
void Capture::record(Frame& frame) {
  if (!is_traced(frame.sequence)) return;
  const auto before = std::exchange(last_queued_, Clock::now());
  frame.queued = last_queued_;
  const auto start = std::max(before, frame.queued - frame.capture_duration);
  StageUse use;
  use.cpu = std::min(thread_cpu_time() - cpu_before_read_, frame.queued - start);
  trace_->record(Stage::kCapture, frame.sequence, start, frame.queued, use);
}

void Capture::note_status(bool online) {
  if (online == online_) return;
  online_ = online;
  if (selector_ != nullptr) selector_->forget_from(captured_);
  const MutexLock lock(changes_mutex_);
  changes_.push_back({{online, std::chrono::system_clock::now()}, captured_});
}

}  // namespace lookout
