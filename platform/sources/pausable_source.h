// A source that can be switched off.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "pipeline/core/source.h"

namespace lookout {

// While it is paused the source is closed, so that a camera is released, and counts as away. All
// methods are called by one thread, but `paused` is set by any.
class PausableSource : public Source {
 public:
  using Open = std::function<std::unique_ptr<Source>()>;

  // `first`: the open source; `open` opens it again. `paused` is shared with those who set it.
  PausableSource(std::unique_ptr<Source> first, Open open,
                 std::shared_ptr<const std::atomic<bool>> paused);

  // The facts of the first opening.
  const SourceInfo& info() const override { return info_; }

  // Throws what `open` throws: it has to wait for a camera that has gone meanwhile.
  ReadStatus read(Frame& frame, std::chrono::milliseconds timeout) override;
  bool online() const override { return source_ && source_->online(); }

 private:
  std::unique_ptr<Source> source_;  // null while it is paused
  const Open open_;
  const std::shared_ptr<const std::atomic<bool>> paused_;
  const SourceInfo info_;
};

}  // namespace lookout
