#include "app/run/run.h"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/model/model_facts.h"
#include "app/model/model_trials.h"
#include "app/model/models.h"
#include "app/options/resolved_run.h"
#include "app/output/log.h"
#include "app/run/reporters.h"
#include "app/run/run_watches.h"
#include "app/run/taught_run.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/profile/operator_profile.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/frame_selector.h"
#include "pipeline/run/pipeline.h"
#include "platform/sources/open_source.h"
#include "platform/sources/pausable_source.h"
#include "platform/sources/source_uri.h"
#include "platform/system/input_file.h"
#include "platform/system/machine_notes.h"
#include "platform/system/process_usage.h"
#include "platform/system/service.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

LoadedModel load_run_models(ModelLoader& loader, ModelOptions model, const ResolvedRun& resolved,
                            std::optional<OperatorProfile>& profile) {
  // For a single picture nothing is measured: that would take longer than to classify it.
  const bool is_auto = model.threads == ClassifierOptions::kAutoThreads;
  if (is_auto && resolved.one_picture) model.threads = 1;
  LoadOptions load;
  load.operators = profile ? &*profile : nullptr;
  load.trace = resolved.trace.has_value();
  load.hash = resolved.http_address || is_service();  // for the metrics
  return loader.load(model, load);
}

// A model that is loaded beside a running one takes over how many threads compute: a measurement
// would find the processors busy.
ModelOptions with_threads(ModelOptions model, int threads) {
  model.threads = threads;
  return model;
}

// The service manager starts it again.
void end_hung_run() {
  flush_log();
  std::abort();
}

void note_outcome(const ReloadOutcome& outcome) {
  if (const auto folder = state_folder(); !folder.empty()) write_reload_outcome(folder, outcome);
}

// Loads models beside running ones, and notes which of them a start might load. By the thread that
// reloads.
class ReloadedModels {
 public:
  using Load = std::function<LoadedModel(const ModelOptions&)>;

  explicit ReloadedModels(Load load) : load_(std::move(load)) {}

  LoadedModel load(const ModelOptions& model) {
    try {
      return load_(model);
    } catch (const OtherEngine& error) {
      refusal_ = fmt::format("model {}: {}; restart lookout to use it",
                             model_path(model.file).string(), error.what());
      throw Error(error.kind(), refusal_);
    }
  }
  // Not each refusal is why a reload fails: a taught watch is left out.
  void note(ReloadOutcome outcome) {
    const std::string refusal = std::exchange(refusal_, {});
    outcome.needs_restart = !refusal.empty() && outcome.error.find(refusal) != std::string::npos;
    note_outcome(outcome);
  }

 private:
  const Load load_;
  std::string refusal_;  // the last one of the reload that goes on; empty: none
};

// Throws what the next start would before a model is loaded, and what it would for libraries that
// are not there. `now`: the options of the run.
void judge_run(const RunOptions& next, const RunOptions& now) {
  check_next_start(next, now);
  const auto open_only = [](std::istream& /*library*/) {};
  for (const std::string& library : operator_libraries(next.model)) {
    read_input("model.operators", library, open_only);
  }
  const std::string plugin = checked_device(next.model.device).plugin;
  if (!plugin.empty()) read_input("model.device-plugin", plugin, open_only);
}

RunInfo describe_run(const RunOptions& options, const SourceInfo& source) {
  const cv::Rect2d& roi = options.camera.view.roi;
  RunInfo info;
  info.camera = options.camera.name.empty() ? source.name : options.camera.name;
  info.source = source.description;
  info.live = source.live;
  info.roi = fmt::format("[{},{},{},{}]", roi.x, roi.y, roi.width, roi.height);
  return info;
}

// Returns null when there is no file to write a trace to. `lines` outlives it.
std::unique_ptr<Trace> make_trace(const std::optional<AtomicFile>& file, const RunOptions& options,
                                  const RunInfo& info, const Classifier& model,
                                  const NonBlockingWriter& lines) {
  if (!file) return nullptr;
  TraceOptions trace_options;
  trace_options.frames = options.profile.trace_frames;
  trace_options.skip = info.live ? kWarmUpFrames : 0;  // files need no warm-up
  trace_options.about = {{"program", "lookout " LOOKOUT_VERSION},
                         {"camera", info.camera},
                         {"model", model.spec().name},
                         {"kernels", model.facts().kernels},
                         {"library", library_text(model.facts())}};
  trace_options.sample = [] {
    return MachineSample{read_machine_state(), process_usage().resident_bytes};
  };
  trace_options.writer_wait = [&lines] { return lines.waited(); };
  return std::make_unique<Trace>(
      trace_options, [file = *file, name = options.profile.trace](const Trace& trace) {
        file.save([&trace](const WritePart& write) { trace.write_json(write); });
        log_info("trace: {} frames in {}", trace.frames(), name);
      });
}

PipelineOptions pipeline_options(const RunOptions& options, const ResolvedRun& resolved) {
  PipelineOptions pipeline;
  pipeline.capture = options.camera.capture;
  pipeline.stats_interval = resolved.stats_interval;
  pipeline.machine_state = [] { return read_machine_state(); };
  if (options.camera.timeout.count() > 0) pipeline.end = Clock::now() + options.camera.timeout;
  return pipeline;
}

// What slows the machine down, once: nobody asks doctor while a service runs. `live`: the
// source.
void log_machine(const RunOptions& options, bool live) {
  const SystemInfo system = read_system_info();
  const std::string heat = heat_note(system.state, options.heat.limit);
  if (!heat.empty()) log_warn("{}", heat);
  if (!live && !is_service()) return;
  const std::string power = power_note(system.state);
  if (!power.empty()) log_warn("power: {}", power);
  const std::string governor = governor_note(system);
  if (!governor.empty()) log_info("clock: {}", governor);
}

// A live source that commands can pause: `paused` is then not null.
std::unique_ptr<Source> open_run_source(const RunOptions& options, SourceOptions source_settings,
                                        std::shared_ptr<std::atomic<bool>>& paused) {
  auto source = open_source(options.camera.source, source_settings);
  const bool can_pause = options.mqtt.commands && !options.mqtt.url.empty() && source->info().live;
  if (!can_pause) return source;
  paused = std::make_shared<std::atomic<bool>>(false);
  source_settings.wait = true;  // for a camera that was unplugged meanwhile
  return std::make_unique<PausableSource>(
      std::move(source),
      [name = options.camera.source, source_settings] {
        return open_source(name, source_settings);
      },
      paused, source_settings.wake);
}

void require_frame(const StatsSnapshot& total, const RunOptions& options) {
  if (total.captured > 0 || total.skipped == 0) return;
  throw Error(ErrorKind::kNoInput, fmt::format("{}: none of the {} pictures can be read",
                                               shown_source(options.camera.source), total.skipped));
}

// Empty when operators are not sampled. `profile` outlives the result.
std::function<OperatorTable()> sorted_table(const std::optional<OperatorProfile>& profile,
                                            OperatorOrder order) {
  if (!profile) return {};
  return [&profile, order] {
    OperatorTable table = profile->table();
    sort_rows(order, table);
    return table;
  };
}

void log_dropped(const NonBlockingWriter& output) {
  if (output.dropped() == 0) return;
  log_warn("stdout's reader was too slow: {} writes were dropped", output.dropped());
}

// The options have the taught watches.
void run_with_watches(const RunOptions& options, std::atomic<bool>& stop,
                      std::atomic<bool>& operators_asked, const WakeEvent& wake,
                      const ReloadRequests& reload) {
  const ResolvedRun resolved = resolve(options);
  std::optional<OperatorProfile> profile;
  if (options.profile.op_sampling > 0) {
    profile.emplace(options.profile.op_sampling, options.profile.op_by);
  }
  const auto operators = sorted_table(profile, options.profile.op_sort);
  ModelLoader loader;
  ModelTrials trials(state_folder(), Clock::now, {}, end_hung_run);
  const auto load_model = [&](const ModelOptions& named, ModelTrials::When when) {
    const auto load = [&](const ModelOptions& chosen) {
      return load_run_models(loader, chosen, resolved, profile);
    };
    return trials.load(named, load, when);
  };
  OpenWatches watches = open_watches(options, [&](const ModelOptions& named) {
    return load_model(named, ModelTrials::When::kStart);
  });
  const Classifier& model = *watches.regions.front().classifiers.front();

  Plan plan = make_plan(options, watches, /*live=*/false);
  FrameSelector selector(plan.selection, selected_regions(plan));
  SourceOptions wishes = source_options(watches);
  wishes.wake = &wake;
  wishes.frame_hint = &selector;
  std::shared_ptr<std::atomic<bool>> paused;
  const auto source = open_run_source(options, wishes, paused);
  plan = make_plan(options, watches, source->info().live);
  selector.set_still(plan.selection.still);
  const std::string& description = source->info().description;
  if (source->online() && !description.empty()) log_info("source: {}", description);

  const RunInfo info = describe_run(watches.all.front().watch.options, source->info());
  log_machine(options, info.live);
  ResultOutput output(info.live, stop);
  PictureQueue pictures;
  const auto trainer = make_trainer(options, reload);
  const auto parts_of = [&](const RunOptions& taken, const OpenWatches& open) {
    return ReporterParts{taken, open.all,        resolved, info, operators, output, pictures,
                         stop,  operators_asked, paused,   wake, trials,    trainer};
  };
  WatchReporters made;
  const auto reporters_of = [&](const RunOptions& taken, const OpenWatches& open) {
    return make_watch_reporters(parts_of(taken, open), made);
  };
  plan.reporters = reporters_of(options, watches);
  const RunReporters reporters = make_reporters(parts_of(options, watches));
  PipelineOptions pipeline = pipeline_options(options, resolved);
  const auto trace = make_trace(resolved.trace, options, info, model, output.lines);
  pipeline.trace = trace.get();
  pipeline.wake = &wake;
  pipeline.selector = &selector;
  if (reporters.take_pictures) pipeline.pictures = &pictures;
  output.lines.wait_until(pipeline.end);
  PlanSlot plans(std::move(plan), [&reload] { reload.wake.wake(); });
  ReloadedModels reloaded([&, threads = model.threads()](const ModelOptions& named) {
    return load_model(with_threads(named, threads), ModelTrials::When::kReload);
  });
  std::optional<Reloader> reloader;
  if (info.live || info.source.empty()) {
    const auto load = [&](const ModelOptions& named) { return reloaded.load(named); };
    const auto judge = [&options](const RunOptions& next) { judge_run(next, options); };
    const auto note = [&](const ReloadOutcome& outcome) { reloaded.note(outcome); };
    reloader.emplace(reload, Reloader::Parts{judge, load, reporters_of, info.live, note}, options,
                     watches, plans);
  }
  watches.models.clear();  // the plan has them, until another one replaces it
  watches.regions.clear();
  const StatsSnapshot total = run_pipeline(*source, plans, reporters.all, pipeline, stop);
  reloader.reset();
  trials.end();  // commands and storage may need longer than a service has to end
  if (trace) trace->finish();
  const bool ended_early = stop || (pipeline.end && Clock::now() >= *pipeline.end);
  if (!info.live && !ended_early) require_frame(total, options);
  if (reporters.overlay != nullptr && !info.live) reporters.overlay->linger(pipeline.end);
  log_dropped(output.lines);
}

}  // namespace

void run(const RunOptions& options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked,
         const WakeEvent& wake, const ReloadRequests& reload) {
  const Configuration now = with_taught_watches({options, reload.given});
  const ReloadRequests requests{now.given, [&reload] { return with_taught_watches(reload.read()); },
                                reload.asked, reload.wake};
  run_with_watches(now.options, stop, operators_asked, wake, requests);
}

}  // namespace lookout
