// The results of one watch of several, for a reporter that knows one state.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "pipeline/core/reporter.h"

namespace lookout {

// Passes on the results of the watch `name`, and its models. Of several such reporters one `leads`:
// it passes on what is not about a watch, too.
class WatchReporter : public Reporter {
 public:
  WatchReporter(std::string name, bool leads, std::unique_ptr<Reporter> to)
      : name_(std::move(name)), leads_(leads), to_(std::move(to)) {}

  // The first watch's when the run begins; later it is not known whose.
  void model(const ModelInfoPtr& model) override {
    if (leads_ && !model_) pass_on(model);
  }
  void report(const Result& result, const Frame& frame) override {
    if (!result.watch || result.watch->name != name_) return;
    if (result.model != model_) pass_on(result.model);
    to_->report(result, frame);
  }
  void tick(const StatsSnapshot& stats) override {
    if (leads_) to_->tick(stats);
  }
  void status(const CameraStatus& status) override {
    if (leads_) to_->status(status);
  }
  void poll() override { to_->poll(); }

 private:
  void pass_on(const ModelInfoPtr& model) {
    model_ = model;
    to_->model(model);
  }

  const std::string name_;
  const bool leads_;
  const std::unique_ptr<Reporter> to_;
  ModelInfoPtr model_;  // that `to_` was told of
};

}  // namespace lookout
