// No frames: the run only classifies the pictures that clients send.
#pragma once

#include <thread>

#include "pipeline/core/source.h"

namespace lookout {

// Live, and never ends. Its description is empty.
class NoSource : public Source {
 public:
  NoSource() {
    info_.name = "none";
    info_.live = true;
  }

  const SourceInfo& info() const override { return info_; }

  ReadStatus read(Frame& /*frame*/, std::chrono::milliseconds timeout) override {
    std::this_thread::sleep_for(timeout);
    return ReadStatus::kTimeout;
  }

 private:
  SourceInfo info_;
};

}  // namespace lookout
