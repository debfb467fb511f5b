// A source that can be switched off.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "pipeline/core/source.h"
#include "pipeline/core/wake_event.h"

namespace lookout {

// While it is paused the source is closed, so that a camera is released, and counts as away. All
// methods are called by one thread, but `paused` is set by any.
class PausableSource : public Source {
 public:
  using Open = std::function<std::unique_ptr<Source>()>;

  // `first`: the open source; `open` opens it again. `paused` is shared with those who set it, and
  // wake `wake` (null: nothing ends a wait) then.
  PausableSource(std::unique_ptr<Source> first, Open open,
                 std::shared_ptr<const std::atomic<bool>> paused, const WakeEvent* wake)
      : source_(std::move(first)),
        open_(std::move(open)),
        paused_(std::move(paused)),
        wake_(wake),
        info_(source_->info()) {}

  // The facts of the first opening.
  const SourceInfo& info() const override { return info_; }

  // Throws what `open` throws: it has to wait for a camera that has gone meanwhile.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override {
    if (*paused_) {
      source_.reset();
      wait_for(wake_, timeout);
      return ReadStatus::kTimeout;
    }
    if (!source_) {
      source_ = open_();
      return ReadStatus::kTimeout;  // `timeout` may be that of an idle source
    }
    return source_->read(frame, timeout);
  }

  bool online() const override { return source_ && source_->online(); }
  bool idle() const override { return source_ ? source_->idle() : *paused_ && wake_ != nullptr; }

 private:
  std::unique_ptr<Source> source_;  // null while it is paused
  const Open open_;
  const std::shared_ptr<const std::atomic<bool>> paused_;
  const WakeEvent* const wake_;
  const SourceInfo info_;
};

}  // namespace lookout
