// A run takes a changed configuration without a restart.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/options/options.h"
#include "app/run/reload_outcome.h"
#include "app/run/run_watches.h"
#include "pipeline/core/wake_event.h"
#include "pipeline/run/plan_slot.h"

namespace lookout {

// Options, and the texts that set them: as Settings::given().
struct Configuration {
  RunOptions options;
  std::map<std::string, std::string> given;
};

// How a run is told to reload, and what.
struct ReloadRequests {
  std::map<std::string, std::string> given;  // of the run's options
  std::function<Configuration()> read;       // the same files and command line again; throws Error
  std::atomic<bool>& asked;                  // set from outside, who then wakes `wake`
  const WakeEvent& wake;
};

// What a run has of a configuration that it takes while it runs.
struct TakenOptions {
  RunOptions options;
  std::vector<std::string> changed;  // names of keys that are taken
  std::vector<std::string> kept;     // names of keys that change with a restart
};

// `next` as far as a run with `before` can take it: watches, model files, states, results' top k
// and thresholds, rates, the limit of heat, and events. All else stays, as does whether watches
// have names, unless http.teach is set.
TakenOptions take_options(const Configuration& before, const Configuration& next);

// A thread of low priority, "reload", which reads and judges the configuration when it is asked
// to, loads what is new, and offers the run a plan. What is wrong with it is logged, and changes
// nothing. It also frees what the plans before had.
class Reloader {
 public:
  struct Parts {
    // Throws Error for options that a run would refuse.
    std::function<void(const RunOptions&)> judge;
    std::function<LoadedModel(const ModelOptions&)> load;
    std::function<std::vector<std::shared_ptr<Reporter>>(const RunOptions&, const OpenWatches&)>
        make_reporters;
    bool live = false;  // the source
    // Is told what came of each reload.
    std::function<void(const ReloadOutcome&)> tell;
  };

  // `options` and `watches` are what `plans` has. All references outlive it.
  Reloader(const ReloadRequests& requests, Parts parts, RunOptions options, OpenWatches watches,
           PlanSlot& plans);
  // Waits for a model that is being loaded.
  ~Reloader();
  Reloader(const Reloader&) = delete;
  Reloader& operator=(const Reloader&) = delete;

 private:
  void run();
  void reload();
  // Throws what keeps the configuration from being taken; `outcome` is then undefined.
  void take(ReloadOutcome& outcome);

  const ReloadRequests& requests_;
  const Parts parts_;
  Configuration now_;
  OpenWatches watches_;
  PlanSlot& plans_;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace lookout
