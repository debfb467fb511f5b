// A model that was installed has to prove itself: a run that ends twice with it, by a crash, a
// watchdog or for want of memory, takes the one before.
//
// One that proved itself is judged again when it ends runs: kAttempts crashes within kCrashWindow,
// as at pictures that it never had before, and the run takes the one before. A crash counts for the
// last installed of the models that were in use. That the machine started again is none.
//
// One that does not return, while it is loaded or for a picture, ends the run at once, so that the
// service manager starts it again, with the one before.
//
// The run notes what happens in the file models.json of its state folder, which a service manager
// gives it (STATE_DIRECTORY). `lookout model install` reads there whether the new model answers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/model/model_store.h"
#include "app/model/models.h"
#include "pipeline/core/frame.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/reporter.h"

namespace lookout {

// What is known of an installation.
struct ModelTrial {
  std::string sha256;
  std::int64_t at = 0;    // as InstalledModel::at
  int attempts = 0;       // processes that loaded it and did not end in order; kAttempts: it hung
  bool answered = false;  // it gave a result, or is loaded and there is no camera to ask it about
  bool proved = false;    // it gave results for ModelTrials::kProof: its attempts do not count
  bool failed = false;    // the one before runs in its place
  bool running = false;   // a process uses it, or ended without order
  std::string boot;       // of the machine, when it was used last
  // Of a model that proved itself: when runs began behind its last crashes, in milliseconds of
  // Clock.
  std::vector<std::int64_t> crashes;
  std::string error;  // why it was not loaded, or that it hung; empty: none of these
};

// The note about the installation `model` of the file; nothing when there is none, or it cannot be
// read.
std::optional<ModelTrial> read_trial(const std::filesystem::path& state_folder,
                                     const std::filesystem::path& file,
                                     const InstalledModel& model);

// That the model that was installed there is not used, why, and which one is in its place; empty:
// it is used, as far as can be read.
std::string fallback_note(const std::filesystem::path& state_folder,
                          const std::filesystem::path& file);

// How long a new model may take: longer than one that works, and so short that the one before is
// back within a minute. On the same machine it was loaded and warm within 30 s before it was put in
// place.
struct TrialLimits {
  std::chrono::milliseconds load{40'000};
  std::chrono::milliseconds turn{20'000};  // of the frame loop
};

// Any thread; one of these in a process.
class ModelTrials {
 public:
  static constexpr int kAttempts = 2;
  static constexpr std::chrono::seconds kProof{30};
  static constexpr std::chrono::minutes kCrashWindow{10};

  // `folder`: empty: models are loaded as they are, and nothing is noted. `end_process` is called
  // by a thread of its own when a model with one before it hangs.
  explicit ModelTrials(std::filesystem::path folder,
                       std::function<Clock::time_point()> now = Clock::now, TrialLimits limits = {},
                       std::function<void()> end_process = std::abort);
  // As end(), unless that was called before.
  ~ModelTrials();
  ModelTrials(const ModelTrials&) = delete;
  ModelTrials& operator=(const ModelTrials&) = delete;

  using Load = std::function<LoadedModel(const ModelOptions&)>;
  enum class When { kStart, kReload };

  // Loads the model that the options name, or the one installed before it: when kAttempts processes
  // ended with it, once it proved itself within kCrashWindow, or it cannot be loaded. Then
  // LoadedModel::instead_of is its SHA-256, and the log says so. Throws what `load` throws when
  // there is none before. A reload throws OtherEngine, too, which says nothing of the model: a
  // start may run it.
  LoadedModel load(const ModelOptions& options, const Load& load, When when = When::kStart);

  // Whether there is a folder.
  bool notes() const { return !folder_.empty(); }
  // Whether any model is still to prove itself.
  bool is_waiting() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  // The model with that hash is loaded and there is nothing to ask it about.
  void idle(const std::string& sha256);
  // It gave a result.
  void answered(const std::string& sha256);
  // The frame loop has begun a turn: the next one has to come within TrialLimits::turn, until
  // end_of_turns().
  void turn() { turns_.fetch_add(1, std::memory_order_relaxed); }
  void end_of_turns() { turns_.store(0, std::memory_order_relaxed); }
  // The run ends in order, so that its attempts do not count, whatever ends after this. Nothing is
  // loaded any more.
  void end();

 private:
  struct Trial {
    ModelTrial note;
    std::optional<Clock::time_point> first_result;
    bool has_before = false;
  };
  // What there is to load, and its note.
  struct Choice {
    InstalledModel model;
    std::optional<InstalledModel> before;
    ModelTrial note;
  };

  void note_crash() EXCLUDES(mutex_);
  std::optional<Choice> choose(const ModelStore& store);
  void note_use(const ModelStore& store, const Choice& choice) EXCLUDES(mutex_);
  LoadedModel fall_back(const ModelStore& store, const Choice& choice, const ModelOptions& options,
                        const Load& load, const std::string& why);
  void note_attempt(const ModelStore& store, Choice& choice);
  void watch();
  void end_hung(const char* doing, std::chrono::milliseconds limit) REQUIRES(mutex_);
  void note_error(const ModelStore& store, Choice& choice, const std::string& why);
  void write(const std::filesystem::path& file, const ModelTrial& note) REQUIRES(mutex_);
  // By file.
  void write_all(const std::map<std::string, ModelTrial>& notes) REQUIRES(mutex_);

  const std::filesystem::path folder_;
  const std::function<Clock::time_point()> now_;
  const std::string boot_;  // of the machine
  Mutex mutex_;
  std::map<std::filesystem::path, Trial> trials_ GUARDED_BY(mutex_);  // of this process
  bool is_told_ GUARDED_BY(mutex_) = false;   // that notes cannot be written
  bool is_begun_ GUARDED_BY(mutex_) = false;  // the end of the process before is noted
  std::atomic<int> waiting_{0};               // trials that are not proved
  const TrialLimits limits_;
  const std::function<void()> end_process_;
  std::atomic<bool> is_loading_{false};  // a model that is to prove itself
  std::atomic<std::uint64_t> turns_{0};  // 0: the frame loop does not turn
  ConditionVariable watch_;              // with mutex_
  bool stop_watch_ GUARDED_BY(mutex_) = false;
  bool ended_ = false;
  std::thread watcher_;  // last: it uses all of the above; none without a trial
};

// Tells `trials`, which outlives it, what results there are. `has_source`: else no result is waited
// for. `live`: of the source; else what reads the results may hold the frame loop up for any time.
// Null when nothing is noted.
std::unique_ptr<Reporter> make_trial_reporter(ModelTrials& trials, bool has_source, bool live);

}  // namespace lookout
