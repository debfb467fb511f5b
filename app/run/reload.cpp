#include "app/run/reload.h"

#include <malloc.h>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/text.h"
#include "pipeline/core/thread.h"
#include "pipeline/run/scheduling.h"

namespace lookout {
namespace {

// What a start or a reload leaves behind is given back to the system when the threads that compute
// have been chosen, and what months leave behind every hour.
constexpr std::chrono::seconds kSettled{20};
constexpr std::chrono::hours kBetweenTrims{1};

bool is_taken(const std::string& name) {
  for (const char* section : {"watch.", "state.", "still.", "heat.", "events."}) {
    if (starts_with(name, section)) return true;
  }
  static const std::set<std::string> names{
      "results.top-k",  "results.threshold", "camera.max-rate",  "model.file", "model.base",
      "model.labels",   "model.sha256",      "model.input-size", "model.mean", "model.std",
      "model.channels", "model.scale",       "model.output"};
  return names.count(name) > 0;
}

// The names of settings that were set in one of them alone, or to another text.
std::set<std::string> differences(const std::map<std::string, std::string>& one,
                                  const std::map<std::string, std::string>& other) {
  std::set<std::string> names;
  for (const auto& [name, text] : one) {
    const auto found = other.find(name);
    if (found == other.end() || found->second != text) names.insert(name);
  }
  for (const auto& [name, text] : other) {
    if (one.count(name) == 0) names.insert(name);
  }
  return names;
}

std::vector<std::string> names_of_new(const OpenWatches& now, const OpenWatches& before) {
  std::vector<std::string> names;
  for (const OpenModel& model : now.models) {
    const bool is_known =
        std::any_of(before.models.begin(), before.models.end(),
                    [&model](const OpenModel& one) { return one.info == model.info; });
    if (!is_known) names.push_back(model.info->name);
  }
  return names;
}

}  // namespace

TakenOptions take_options(const Configuration& before, const Configuration& next) {
  TakenOptions taken;
  RunOptions& options = taken.options;
  options = before.options;
  // Reporters and clients know whether what they show has a name. Where an owner teaches, the first
  // watch comes while the run goes on.
  const bool same_kind =
      before.options.http.teach || before.options.watches.empty() == next.options.watches.empty();
  for (const std::string& name : differences(before.given, next.given)) {
    const bool takes = is_taken(name) && (same_kind || !starts_with(name, "watch."));
    (takes ? taken.changed : taken.kept).push_back(name);
  }
  const ModelOptions& model = next.options.model;
  options.model.file = model.file;
  options.model.base = model.base;
  options.model.labels = model.labels;
  options.model.stated = model.stated;
  options.model.sha256 = model.sha256;
  options.results.top_k = next.options.results.top_k;
  options.results.threshold = next.options.results.threshold;
  options.camera.max_rate = next.options.camera.max_rate;
  options.state = next.options.state;
  options.still = next.options.still;
  if (same_kind) options.watches = next.options.watches;
  options.heat = next.options.heat;
  options.events = next.options.events;
  return taken;
}

Reloader::Reloader(const ReloadRequests& requests, Parts parts, RunOptions options,
                   OpenWatches watches, PlanSlot& plans)
    : requests_(requests),
      parts_(std::move(parts)),
      now_{std::move(options), requests.given},
      watches_(std::move(watches)),
      plans_(plans),
      thread_(start_thread("reload", [this] { run(); })) {}

Reloader::~Reloader() {
  stop_ = true;
  requests_.wake.wake();
  thread_.join();
}

void Reloader::run() {
  bool is_low = false;
  auto trim = Clock::now() + kSettled;
  while (!stop_) {
    plans_.free_retired();
    if (requests_.asked.exchange(false)) {
      if (!std::exchange(is_low, true)) lower_this_thread_priority();
      reload();
      trim = Clock::now() + kSettled;
    } else if (Clock::now() >= trim) {
      malloc_trim(0);
      trim = Clock::now() + kBetweenTrims;
    } else {
      requests_.wake.wait(trim - Clock::now());
    }
  }
}

void Reloader::reload() {
  ReloadOutcome outcome;
  outcome.begun = Clock::now();
  try {
    take(outcome);
    if (const std::string kept = kept_text(outcome); !kept.empty()) log_warn("reload: {}", kept);
    log_info("reload: {}", taken_text(outcome));
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.exit_status = error.exit_status();
  } catch (const std::exception& error) {
    outcome.error = error.what();
    outcome.exit_status = static_cast<int>(ErrorKind::kInternal);
  }
  if (!outcome.error.empty()) log_error("reload: nothing was changed: {}", outcome.error);
  parts_.tell(outcome);
}

void Reloader::take(ReloadOutcome& outcome) {
  Configuration next = requests_.read();
  parts_.judge(next.options);
  TakenOptions taken = take_options(now_, next);
  OpenWatches watches = open_watches(taken.options, parts_.load, watches_.models);
  outcome.changed = taken.changed;
  outcome.kept = taken.kept;
  for (const std::string& model : names_of_new(watches, watches_)) {
    outcome.changed.push_back("the model " + model);
  }
  if (outcome.changed.empty()) return;
  Plan plan = make_plan(taken.options, watches, parts_.live);
  plan.reporters = parts_.make_reporters(taken.options, watches);
  plans_.offer(std::move(plan));
  for (const std::string& name : taken.kept) {
    const auto found = now_.given.find(name);
    if (found == now_.given.end()) {
      next.given.erase(name);
    } else {
      next.given[name] = found->second;
    }
  }
  now_ = {std::move(taken.options), std::move(next.given)};
  watches_ = std::move(watches);
}

}  // namespace lookout
