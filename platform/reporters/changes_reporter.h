// For a journal: results only when the state changes.
#pragma once

#include <memory>
#include <utility>

#include "pipeline/core/reporter.h"
#include "pipeline/results/statistics.h"

namespace lookout {

// Passes on the results that change the state, and everything that is not a result.
class ChangesReporter : public Reporter {
 public:
  explicit ChangesReporter(std::unique_ptr<Reporter> to) : to_(std::move(to)) {}
  void report(const Result& result, const Frame& frame) override {
    if (result.state_changed) to_->report(result, frame);
  }
  void tick(const StatsSnapshot& stats) override { to_->tick(stats); }
  void status(const CameraStatus& status) override { to_->status(status); }
  void poll() override { to_->poll(); }

 private:
  std::unique_ptr<Reporter> to_;
};

}  // namespace lookout
