// A source that can be switched off.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "pipeline/core/source.h"

namespace lookout {

// While it is paused the source is closed, so that a camera is released, and counts as away. All
// methods are called by one thread, but `paused` is set by any.
class PausableSource : public Source {
 public:
  using Open = std::function<std::unique_ptr<Source>()>;

  // `first`: the open source; `open` opens it again. `paused` is shared with those who set it.
  PausableSource(std::unique_ptr<Source> first, Open open,
                 std::shared_ptr<const std::atomic<bool>> paused)
      : source_(std::move(first)),
        open_(std::move(open)),
        paused_(std::move(paused)),
        info_(source_->info()) {}

  // The facts of the first opening.
  const SourceInfo& info() const override { return info_; }

  // Throws what `open` throws: it has to wait for a camera that has gone meanwhile.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override {
    if (*paused_) {
      source_.reset();
      std::this_thread::sleep_for(timeout);
      return ReadStatus::kTimeout;
    }
    if (!source_) source_ = open_();
    return source_->read(frame, timeout);
  }

  bool online() const override { return source_ && source_->online(); }

 private:
  std::unique_ptr<Source> source_;  // null while it is paused
  const Open open_;
  const std::shared_ptr<const std::atomic<bool>> paused_;
  const SourceInfo info_;
};

}  // namespace lookout
