#include "platform/reporters/on_change_reporter.h"

#include <fmt/format.h>

#include <exception>
#include <string_view>
#include <utility>

#include "pipeline/core/log.h"
#include "pipeline/results/format.h"
#include "platform/reporters/log_once.h"
#include "platform/system/process.h"

namespace lookout {
namespace {

constexpr std::chrono::milliseconds kMaxCommandWait{100};  // before the end is looked for again

}  // namespace

class OnChangeReporter::Runner {
 public:
  struct Counts {
    std::uint64_t runs = 0;
    std::uint64_t failed = 0;
    std::uint64_t coalesced = 0;
  };

  explicit Runner(OnChangeOptions options) : options_(std::move(options)) {}

  // The thread's work.
  void run(Change& change, const AsyncWorker<Change>::Task& task) {
    std::string failure;
    try {
      change.environment.push_back(fmt::format("LOOKOUT_EVENT_COALESCED={}", task.dropped()));
      change.environment.push_back("LOOKOUT_EVENT_SNAPSHOT=" + wait_for_snapshot(change, task));
      if (task.expired()) return;
      const auto limit = Clock::now() + options_.time_limit;
      failure = run_process(options_.command, change.environment,
                            [&] { return Clock::now() >= limit || task.expired(); });
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (!failure.empty()) {
      failures_.warn(fmt::format("--on-change {}: {}", options_.command[0], failure));
    } else if (failures_.worked()) {
      log_info("--on-change {}: works again; {} failed", options_.command[0], counts().failed);
    }
    const MutexLock lock(mutex_);
    ++counts_.runs;
    if (!failure.empty()) ++counts_.failed;
    counts_.coalesced += task.dropped();
  }

  Counts counts() const {
    const MutexLock lock(mutex_);
    return counts_;
  }

 private:
  // Returns the picture's path; an empty one when there is none within the time of a command.
  std::string wait_for_snapshot(Change& change, const AsyncWorker<Change>::Task& task) const {
    if (!change.snapshot.valid()) return "";
    const auto limit = Clock::now() + options_.time_limit;
    while (change.snapshot.wait_for(kMaxCommandWait) != std::future_status::ready) {
      if (Clock::now() >= limit || task.expired()) return "";
    }
    return change.snapshot.get().string();
  }

  const OnChangeOptions options_;
  LogOnce failures_;  // the thread's own
  mutable Mutex mutex_;
  Counts counts_ GUARDED_BY(mutex_);
};

OnChangeReporter::OnChangeReporter(OnChangeOptions options, const std::string& camera,
                                   std::unique_ptr<SnapshotReporter> snapshots)
    : patience_(options.patience),
      camera_(camera),
      snapshots_(std::move(snapshots)),
      runner_(std::make_shared<Runner>(std::move(options))),
      changes_("on-change", [runner = runner_](Change& change, const auto& task) {
        runner->run(change, task);
      }) {}

OnChangeReporter::~OnChangeReporter() {
  const auto deadline = Clock::now() + patience_;
  const bool in_time = changes_.end_by(deadline);
  if (snapshots_) snapshots_->end_by(deadline);
  if (!in_time) log_warn("--on-change: the last command could not be ended");
  const Runner::Counts counts = runner_->counts();
  if (counts.runs == 0) return;
  log_info("--on-change: {} run{}, {} failed, {} changes coalesced", counts.runs,
           counts.runs == 1 ? "" : "s", counts.failed, counts.coalesced);
}

void OnChangeReporter::report(const Result& result, const Frame& frame) {
  if (!result.state_changed) {
    if (snapshots_) snapshots_->report(result, frame);  // of a frame that the model is unsure of
    return;
  }
  Change change;
  if (snapshots_) change.snapshot = snapshots_->take(result, frame);
  const auto add = [&change](const char* name, std::string_view value) {
    change.environment.push_back(fmt::format("LOOKOUT_EVENT_{}={}", name, value));
  };
  const bool known = result.state.kind == SceneState::Kind::kClass;
  const Prediction& prediction = result.state.prediction;
  std::string timestamp;
  append_seconds(result.timestamp, timestamp);
  add("CAMERA", camera_);
  if (result.watch) add("WATCH", result.watch->name);
  add("MODEL", result.model->name);
  add("STATE", result.state.name());
  add("INDEX", known ? std::to_string(prediction.index) : "");
  add("SCORE", known ? fmt::format("{:.4f}", prediction.score) : "");
  add("PREVIOUS", result.previous_state.name());
  add("SEQ", std::to_string(result.sequence));
  add("TIMESTAMP", timestamp);
  add("FILE", frame.origin);
  changes_.put(std::move(change));
}

}  // namespace lookout
