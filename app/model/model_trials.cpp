#include "app/model/model_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "app/report/json.h"
#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/result.h"
#include "pipeline/core/thread.h"
#include "pipeline/results/statistics.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNotesName = "models.json";

Json note_json(const ModelTrial& note) {
  return {{"sha256", note.sha256},     {"installed_ms", note.at}, {"attempts", note.attempts},
          {"answered", note.answered}, {"proved", note.proved},   {"failed", note.failed},
          {"error", note.error},       {"running", note.running}, {"boot", note.boot},
          {"crashes_ms", note.crashes}};
}

ModelTrial note_of(const nlohmann::json& json) {
  ModelTrial note;
  note.sha256 = json.at("sha256").get<std::string>();
  note.at = json.at("installed_ms").get<std::int64_t>();
  note.attempts = json.at("attempts").get<int>();
  note.answered = json.at("answered").get<bool>();
  note.proved = json.at("proved").get<bool>();
  note.failed = json.at("failed").get<bool>();
  note.error = json.at("error").get<std::string>();
  note.running = json.value("running", false);
  note.boot = json.value("boot", std::string());
  note.crashes = json.value("crashes_ms", std::vector<std::int64_t>());
  return note;
}

// By file. What cannot be read is empty: the notes are not needed to run.
std::map<std::string, ModelTrial> read_notes(const fs::path& folder) {
  std::map<std::string, ModelTrial> notes;
  const fs::path path = folder / kNotesName;
  std::error_code unseen;
  if (!fs::exists(path, unseen)) return notes;
  try {
    const auto json = parse_json(read_input("notes about models", path.string()));
    for (const auto& [file, note] : json.at("models").items()) notes[file] = note_of(note);
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  }
  return notes;
}

// Whether the model was refused, or hung, or else how often it ended the program.
std::string failure_text(const ModelTrial& note) {
  if (!note.error.empty()) return note.error;
  return fmt::format("the program ended {} times with it", note.attempts);
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, id);
  return id;
}

std::int64_t milliseconds_of(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// A note belongs to one installation, whatever path leads to the file.
std::string note_key(const fs::path& file) {
  return fs::absolute(file).lexically_normal().string();
}

std::string shown(const InstalledModel& model) {
  constexpr std::size_t kDigits = 12;
  return fmt::format("{} ({})", model.name, model.sha256.substr(0, kDigits));
}

// Is set while it lives.
class Flag {
 public:
  explicit Flag(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Flag() { flag_ = false; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

 private:
  std::atomic<bool>& flag_;
};

class TrialReporter : public Reporter {
 public:
  TrialReporter(ModelTrials& trials, bool has_source, bool live)
      : trials_(trials), asks_(has_source), live_(live) {}

  void watching(const WatchList& watches) override {
    models_.clear();
    for (const Watching& each : watches) models_.push_back(each.model);
    tell_idle();
  }
  void poll() override {
    if (live_ && trials_.is_waiting()) trials_.turn();
  }
  void tick(const StatsSnapshot& stats) override {
    if (stats.final) trials_.end_of_turns();
  }
  void report(const Result& result, const Frame& /*frame*/) override {
    if (!trials_.is_waiting() || result.reused || !result.model) return;
    trials_.answered(result.model->sha256);
  }
  void status(const CameraStatus& status) override {
    is_away_ = !status.online;
    tell_idle();
  }

 private:
  void tell_idle() {
    if (asks_ && !is_away_) return;
    for (const ModelInfoPtr& model : models_) {
      if (model) trials_.idle(model->sha256);
    }
  }

  ModelTrials& trials_;
  const bool asks_;
  const bool live_;
  bool is_away_ = false;
  std::vector<ModelInfoPtr> models_;
};

}  // namespace

std::optional<ModelTrial> read_trial(const fs::path& state_folder, const fs::path& file,
                                     const InstalledModel& model) {
  const auto notes = read_notes(state_folder);
  const auto note = notes.find(note_key(file));
  if (note == notes.end()) return std::nullopt;
  if (note->second.sha256 != model.sha256 || note->second.at != model.at) return std::nullopt;
  return note->second;
}

std::string fallback_note(const fs::path& state_folder, const fs::path& file) {
  if (state_folder.empty() || file.empty()) return {};
  try {
    const ModelStore store(file);
    const auto installed = store.installed();
    if (installed.size() < 2) return {};
    const InstalledModel& model = installed.front();
    const auto note = read_trial(state_folder, file, model);
    if (!note || !note->failed || ModelArchive(file).sha256() != model.sha256) return {};
    return fmt::format("{}: {} is not used: {}; {}, the one before, is used in its place",
                       file.string(), shown(model), failure_text(*note), shown(installed[1]));
  } catch (const Error&) {  // which a run tells
    return {};
  }
}

ModelTrials::ModelTrials(fs::path folder, std::function<Clock::time_point()> now,
                         TrialLimits limits, std::function<void()> end_process)
    : folder_(std::move(folder)),
      now_(std::move(now)),
      boot_(boot_id()),
      limits_(limits),
      end_process_(std::move(end_process)) {}

ModelTrials::~ModelTrials() { end(); }

void ModelTrials::end() {
  if (std::exchange(ended_, true)) return;
  {
    const MutexLock lock(mutex_);
    stop_watch_ = true;
  }
  watch_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  try {
    const MutexLock lock(mutex_);
    for (auto& [file, trial] : trials_) {
      trial.note.running = false;
      if (!trial.note.proved && trial.note.attempts > 0) --trial.note.attempts;
      write(file, trial.note);
    }
  } catch (const std::exception&) {  // for want of memory: the attempt counts
  }
}

LoadedModel ModelTrials::load(const ModelOptions& options, const Load& load, When when) {
  if (folder_.empty() || options.file.empty()) return load(options);
  note_crash();
  const ModelStore store(options.file);
  std::optional<Choice> choice = choose(store);
  if (!choice) return load(options);
  if (choice->note.proved) {
    note_use(store, *choice);
    return load(options);
  }
  if (choice->note.attempts >= kAttempts && choice->before) {
    return fall_back(store, *choice, options, load, failure_text(choice->note));
  }
  note_attempt(store, *choice);
  try {
    const Flag loading(is_loading_);
    LoadedModel loaded = load(options);
    loaded.sha256 = choice->model.sha256;
    return loaded;
  } catch (const Error& error) {
    const bool is_other_engine = dynamic_cast<const OtherEngine*>(&error) != nullptr;
    if (when == When::kReload && is_other_engine) {
      note_error(store, *choice, {});
      throw;
    }
    note_error(store, *choice, error.what());
    if (!choice->before) throw;
    return fall_back(store, *choice, options, load, error.what());
  }
}

// Of the process before this one, which of its models it may have been.
void ModelTrials::note_crash() {
  const MutexLock lock(mutex_);
  if (std::exchange(is_begun_, true)) return;
  auto notes = read_notes(folder_);
  ModelTrial* newest = nullptr;
  for (auto& [file, note] : notes) {
    if (!std::exchange(note.running, false) || note.boot != boot_) continue;
    if (newest == nullptr || note.at > newest->at) newest = &note;
  }
  if (newest == nullptr) return;
  if (newest->proved) {
    std::vector<std::int64_t>& crashes = newest->crashes;
    const std::int64_t now = milliseconds_of(now_().time_since_epoch());
    const auto is_old = [&](std::int64_t crash) {
      return crash > now || crash < now - milliseconds_of(kCrashWindow);
    };
    crashes.erase(std::remove_if(crashes.begin(), crashes.end(), is_old), crashes.end());
    crashes.push_back(now);
  }
  write_all(notes);
}

// What the store knows of the file as it is now; nothing when that was not installed.
std::optional<ModelTrials::Choice> ModelTrials::choose(const ModelStore& store) {
  std::vector<InstalledModel> installed;
  Choice choice;
  try {
    installed = store.installed();
    if (installed.empty()) return std::nullopt;
    const std::string hash = ModelArchive(store.file()).sha256();
    const auto found =
        std::find_if(installed.begin(), installed.end(),
                     [&hash](const InstalledModel& model) { return model.sha256 == hash; });
    if (found == installed.end()) return std::nullopt;
    choice.model = *found;
    installed.erase(found);
  } catch (const Error& error) {
    log_warn("{}", error.what());
    return std::nullopt;
  }
  if (!installed.empty()) choice.before = installed.front();
  choice.note.sha256 = choice.model.sha256;
  choice.note.at = choice.model.at;
  if (const auto note = read_trial(folder_, store.file(), choice.model)) choice.note = *note;
  ModelTrial& note = choice.note;
  if (note.proved && note.crashes.size() >= kAttempts && choice.before) {
    note.proved = false;
    note.attempts = kAttempts;
    note.error = fmt::format("the program ended {} times within {} minutes with it",
                             note.crashes.size(), kCrashWindow.count());
  }
  return choice;
}

LoadedModel ModelTrials::fall_back(const ModelStore& store, const Choice& choice,
                                   const ModelOptions& options, const Load& load,
                                   const std::string& why) {
  log_warn(
      "model {}: {} is not used: {}; {}, the one before, is used in its place (lookout model "
      "list shows both)",
      store.file().string(), shown(choice.model), why, shown(*choice.before));
  {
    const MutexLock lock(mutex_);
    ModelTrial note = choice.note;
    if (!note.failed) {
      note.failed = true;
      write(store.file(), note);
    }
  }
  ModelOptions before = options;
  before.file = store.kept(choice.before->sha256).string();
  LoadedModel loaded = load(before);
  loaded.sha256 = choice.before->sha256;
  loaded.instead_of = choice.model.sha256;
  loaded.failed = shown(choice.model);
  return loaded;
}

// Of a model that proved itself.
void ModelTrials::note_use(const ModelStore& store, const Choice& choice) {
  const MutexLock lock(mutex_);
  Trial& trial = trials_[store.file()];
  if (trial.note.sha256 == choice.model.sha256 && trial.note.at == choice.model.at) return;
  if (!trial.note.sha256.empty() && !trial.note.proved) --waiting_;
  trial = {choice.note, std::nullopt, choice.before.has_value()};
  if (trial.note.boot != boot_) trial.note.crashes.clear();
  trial.note.boot = boot_;
  trial.note.running = true;
  write(store.file(), trial.note);
}

// A process ends once, however often it loads a model.
void ModelTrials::note_attempt(const ModelStore& store, Choice& choice) {
  const MutexLock lock(mutex_);
  Trial& trial = trials_[store.file()];
  if (trial.note.sha256 == choice.model.sha256 && trial.note.at == choice.model.at) {
    choice.note = trial.note;
    return;
  }
  if (trial.note.sha256.empty() || trial.note.proved) ++waiting_;
  ++choice.note.attempts;
  choice.note.answered = choice.note.failed = false;
  choice.note.error.clear();
  choice.note.running = true;
  choice.note.boot = boot_;
  choice.note.crashes.clear();
  trial = {choice.note, std::nullopt, choice.before.has_value()};
  log_info("model {}: {} was installed and is new: attempt {} of {}", store.file().string(),
           shown(choice.model), choice.note.attempts, kAttempts);
  write(store.file(), choice.note);
  if (!watcher_.joinable()) watcher_ = start_thread("trial", [this] { watch(); });
  watch_.notify_all();
}

// Its own steps are counted, so that a process that was stopped for a while has not hung.
void ModelTrials::watch() {
  constexpr std::chrono::milliseconds kStep{200};
  std::chrono::milliseconds loading{0};
  std::chrono::milliseconds turning{0};
  std::uint64_t seen = 0;
  const MutexLock lock(mutex_);
  while (!stop_watch_) {
    if (!is_waiting()) {
      loading = turning = std::chrono::milliseconds(0);
      watch_.wait(mutex_);
      continue;
    }
    watch_.wait_until(mutex_, Clock::now() + kStep);
    const std::uint64_t turns = turns_;
    turning = turns == 0 || turns != seen ? std::chrono::milliseconds(0) : turning + kStep;
    seen = turns;
    loading = is_loading_ ? loading + kStep : std::chrono::milliseconds(0);
    if (loading >= limits_.load) end_hung("loading it", limits_.load);
    if (turning >= limits_.turn) end_hung("a frame", limits_.turn);
  }
}

// Nothing is gained by an end without a model to go back to.
void ModelTrials::end_hung(const char* doing, std::chrono::milliseconds limit) {
  bool ends = false;
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    auto& [file, its] = *trial;
    if (its.note.proved || !its.has_before) {
      ++trial;
      continue;
    }
    its.note.attempts = kAttempts;
    its.note.answered = false;
    its.note.error = fmt::format("it did not return: {} took more than {} s", doing,
                                 std::chrono::duration<double>(limit).count());
    log_error("model {}: {}; the run ends, and the next one uses the model before", file.string(),
              its.note.error);
    write(file, its.note);
    --waiting_;
    trial = trials_.erase(trial);
    ends = true;
  }
  if (ends) end_process_();
}

void ModelTrials::note_error(const ModelStore& store, Choice& choice, const std::string& why) {
  const MutexLock lock(mutex_);
  const auto found = trials_.find(store.file());
  if (found != trials_.end()) {
    if (!found->second.note.proved) --waiting_;
    trials_.erase(found);
  }
  choice.note.error = why;
  choice.note.running = false;
  choice.note.attempts = std::max(choice.note.attempts - 1, 0);  // the process goes on
  write(store.file(), choice.note);
}

void ModelTrials::idle(const std::string& sha256) {
  const MutexLock lock(mutex_);
  for (auto& [file, trial] : trials_) {
    if (trial.note.sha256 != sha256 || trial.note.answered) continue;
    trial.note.answered = true;
    write(file, trial.note);
  }
}

void ModelTrials::answered(const std::string& sha256) {
  const MutexLock lock(mutex_);
  for (auto& [file, trial] : trials_) {
    if (trial.note.sha256 != sha256 || trial.note.proved) continue;
    if (!trial.first_result) trial.first_result = now_();
    const bool is_proved = now_() - *trial.first_result >= kProof;
    if (trial.note.answered && !is_proved) continue;
    trial.note.answered = true;
    if (is_proved) {
      trial.note.proved = true;
      trial.note.attempts = 0;
      --waiting_;
      log_info("model {}: the new one has proved itself", file.string());
    }
    write(file, trial.note);
  }
}

void ModelTrials::write(const fs::path& file, const ModelTrial& note) {
  auto notes = read_notes(folder_);
  notes[note_key(file)] = note;
  write_all(notes);
}

void ModelTrials::write_all(const std::map<std::string, ModelTrial>& notes) {
  try {
    Json models = Json::object();
    for (const auto& [path, each] : notes) models[path] = note_json(each);
    const std::string text = to_text(Json{{"schema", 1}, {"models", std::move(models)}}, 2) + "\n";
    AtomicFile("notes about models", folder_ / kNotesName).save([&text](const WritePart& part) {
      part(text);
    });
  } catch (const Error& error) {
    if (!std::exchange(is_told_, true)) {
      log_warn("{}: a new model that ends the program would be loaded again", error.what());
    }
  }
}

std::unique_ptr<Reporter> make_trial_reporter(ModelTrials& trials, bool has_source, bool live) {
  return trials.notes() ? std::make_unique<TrialReporter>(trials, has_source, live) : nullptr;
}

}  // namespace lookout
