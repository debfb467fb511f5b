// No frames: the run only classifies the pictures that clients send.
#pragma once

#include "pipeline/core/source.h"
#include "pipeline/core/wake_event.h"

namespace lookout {

// Live, and never ends. Its description is empty.
class NoSource : public Source {
 public:
  // `wake` ends a read(); null: nothing does.
  explicit NoSource(const WakeEvent* wake) : wake_(wake) {
    info_.name = "none";
    info_.live = true;
  }

  const SourceInfo& info() const override { return info_; }

  ReadStatus read(Frame& /*frame*/, std::chrono::milliseconds timeout) override {
    wait_for(wake_, timeout);
    return ReadStatus::kTimeout;
  }

  bool idle() const override { return wake_ != nullptr; }

 private:
  const WakeEvent* wake_;
  SourceInfo info_;
};

}  // namespace lookout
