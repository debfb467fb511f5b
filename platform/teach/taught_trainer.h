// Trains what is taught in a process of its own, and keeps the models that come of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/core/mutex.h"
#include "pipeline/core/wake_event.h"
#include "platform/teach/taught_models.h"
#include "platform/teach/taught_previewer.h"
#include "platform/teach/teach_trainer.h"
#include "platform/teach/time_left.h"
#include "platform/teach/training_order.h"

namespace lookout {

struct TaughtTrainerOptions {
  std::filesystem::path library;               // the folder of the TeachLibrary
  std::vector<std::string> command;            // that trains; a TrainingOrder comes on its stdin
  std::string base;                            // as TrainingOrder::base
  std::function<void()> reload;                // has the run read its watches again; any thread
  std::vector<std::string> preview_command{};  // as TaughtPreviewer's
  // A process that tells nothing for so long hangs, and is ended. It tells each hundredth of its
  // work; to start the engine of a base takes longest.
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  std::function<TimeLeft::Clock::time_point()> now = TimeLeft::Clock::now;  // any thread
};

// The process is one of low priority with limits (`lookout train-taught`). It ends with this, and
// with a thread of this, "train", that reads what it tells. What it leaves when it is killed
// changes nothing: a model is kept when it is complete.
class TaughtTrainer : public TeachTrainer {
 public:
  explicit TaughtTrainer(TaughtTrainerOptions options);
  // Ends a training.
  ~TaughtTrainer() override;

  // Also throws kTooFewPictures, kNoStart, and what next_head() throws.
  void start(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
             const PictureFile& file) override;
  void look(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
            const PictureFile& file, cv::Mat bgr) override;
  std::optional<TeachLook> newest_look(const std::string& watch) override;
  void cancel() override;
  std::optional<TeachJob> job() override;
  TaughtModels models(const std::string& watch) override;
  void use(const std::string& watch, const std::string& sha256) override;
  void rename(const std::string& watch, const std::string& title) override;
  void begin(const std::string& watch) override;
  void retire(const std::string& watch) override;
  void restore(const std::string& watch) override;
  void keep_only(const TeachLibrary::Contents& contents) override;

 private:
  bool is_running() const REQUIRES(mutex_) {
    return job_ && job_->state == TeachJob::State::kRunning;
  }
  TrainingOrder order_of(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                         const PictureFile& file) const;
  void train(const TrainingOrder& order);
  // Returns why there is no model; empty: there is one, or nobody wants it any more.
  TeachFailure result_of(const TrainingOrder& order);
  // Unless it was cancelled.
  void keep(const TrainingOrder& order, const TaughtReport& report) EXCLUDES(mutex_);
  void note(const TrainingNews& news) EXCLUDES(mutex_);

  const TaughtTrainerOptions options_;
  Mutex start_mutex_;  // held before the others
  Mutex store_mutex_;
  const TaughtModelStore store_ GUARDED_BY(store_mutex_);
  Mutex mutex_;
  std::optional<TeachJob> job_ GUARDED_BY(mutex_);
  TimeLeft time_left_ GUARDED_BY(mutex_);  // of it
  bool keeps_ GUARDED_BY(mutex_) = false;  // its model, so that it cannot be cancelled
  TaughtPreviewer previewer_;
  WakeEvent wake_;  // the thread, when it is cancelled
  std::thread thread_ GUARDED_BY(start_mutex_);
};

}  // namespace lookout
