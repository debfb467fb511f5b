#include "platform/sources/pausable_source.h"

#include <thread>
#include <utility>

namespace lookout {

PausableSource::PausableSource(std::unique_ptr<Source> first, Open open,
                               std::shared_ptr<const std::atomic<bool>> paused)
    : source_(std::move(first)),
      open_(std::move(open)),
      paused_(std::move(paused)),
      info_(source_->info()) {}

ReadStatus PausableSource::read(Frame& frame, std::chrono::milliseconds timeout) {
  if (*paused_) {
    source_.reset();
    std::this_thread::sleep_for(timeout);
    return ReadStatus::kTimeout;
  }
  if (!source_) source_ = open_();
  return source_->read(frame, timeout);
}

}  // namespace lookout
