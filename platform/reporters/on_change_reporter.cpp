#include "platform/reporters/on_change_reporter.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "pipeline/results/format.h"
#include "pipeline/thread.h"
#include "platform/system/process.h"

namespace lookout {

OnChangeReporter::OnChangeReporter(OnChangeOptions options, const std::string& camera,
                                   const std::string& model,
                                   std::unique_ptr<SnapshotReporter> snapshots)
    : options_(std::move(options)),
      source_{"LOOKOUT_EVENT_CAMERA=" + camera, "LOOKOUT_EVENT_MODEL=" + model},
      snapshots_(std::move(snapshots)),
      thread_(start_thread("on-change", [this] { work(); })) {}

OnChangeReporter::~OnChangeReporter() {
  {
    const std::lock_guard lock(mutex_);
    end_by_ = Clock::now() + options_.patience;
  }
  wake_.notify_one();
  thread_.join();
  if (runs_ == 0) return;
  spdlog::info("--on-change: {} run{}, {} failed, {} changes coalesced", runs_,
               runs_ == 1 ? "" : "s", failures_, coalesced_);
}

void OnChangeReporter::report(const Result& result, const Frame& frame) {
  if (!result.state_changed) return;
  Change change{source_, {}};
  if (snapshots_) change.snapshot = snapshots_->take(result, frame);
  const auto add = [&change](const char* name, std::string_view value) {
    change.environment.push_back(fmt::format("LOOKOUT_EVENT_{}={}", name, value));
  };
  const bool known = result.state.kind == SceneState::Kind::kClass;
  const Prediction& prediction = result.state.prediction;
  std::string timestamp;
  append_seconds(result.timestamp, timestamp);
  add("STATE", result.state.name());
  add("INDEX", known ? std::to_string(prediction.index) : "");
  add("SCORE", known ? fmt::format("{:.4f}", prediction.score) : "");
  add("PREVIOUS", result.previous_state.name());
  add("SEQ", std::to_string(result.sequence));
  add("TIMESTAMP", timestamp);
  add("FILE", frame.origin);
  {
    const std::lock_guard lock(mutex_);
    if (waiting_) ++replaced_;
    waiting_ = std::move(change);
  }
  wake_.notify_one();
}

// Waits for a change; returns nothing when there will be none.
std::optional<OnChangeReporter::Change> OnChangeReporter::next() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return waiting_ || end_by_; });
  if (!waiting_ || (end_by_ && Clock::now() >= *end_by_)) return std::nullopt;
  std::optional<Change> change = std::exchange(waiting_, std::nullopt);
  const std::uint64_t replaced = std::exchange(replaced_, 0);
  coalesced_ += replaced;
  change->environment.push_back(fmt::format("LOOKOUT_EVENT_COALESCED={}", replaced));
  return change;
}

bool OnChangeReporter::ending(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  return end_by_ && now >= *end_by_;
}

void OnChangeReporter::run(Change change) {
  const std::string snapshot = change.snapshot.valid() ? change.snapshot.get().string() : "";
  change.environment.push_back("LOOKOUT_EVENT_SNAPSHOT=" + snapshot);
  const auto limit = Clock::now() + options_.time_limit;
  const std::string failure = run_process(options_.command, change.environment, [&] {
    const auto now = Clock::now();
    return now >= limit || ending(now);
  });
  ++runs_;
  if (failure.empty()) return;
  ++failures_;
  if (said_.insert(failure).second) {
    spdlog::warn("--on-change {}: {}; this is said once", options_.command[0], failure);
  }
}

void OnChangeReporter::work() {
  while (std::optional<Change> change = next()) {
    try {
      run(std::move(*change));
    } catch (const std::exception& error) {
      spdlog::warn("--on-change: {}", error.what());
    }
  }
}

}  // namespace lookout
