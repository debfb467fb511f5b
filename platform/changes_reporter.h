// For a journal: results only when there is something new to say.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pipeline/reporter.h"

namespace lookout {

// Passes a result on when its best label differs from that of the last result passed on, or when
// the camera went away or came back since. Everything else is passed on as it is.
class ChangesReporter : public Reporter {
 public:
  explicit ChangesReporter(std::unique_ptr<Reporter> to) : to_(std::move(to)) {}
  void report(const Result& result, const Frame& frame) override;
  void tick(const StatsSnapshot& stats) override { to_->tick(stats); }
  void status(const CameraStatus& status) override;
  void beat() override { to_->beat(); }

 private:
  std::unique_ptr<Reporter> to_;
  std::optional<std::string> last_label_;  // empty: nothing was above the threshold
};

}  // namespace lookout
