#include "app/run/run.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/model/model_facts.h"
#include "app/model/models.h"
#include "app/report/json.h"
#include "app/run/http.h"
#include "app/run/mqtt.h"
#include "app/run/reporters.h"
#include "app/run/stats_interval.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/profile/operator_profile.h"
#include "pipeline/results/run_info.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/open_model.h"
#include "pipeline/run/pipeline.h"
#include "platform/reporters/snapshot_folder.h"
#include "platform/sources/open_source.h"
#include "platform/sources/pausable_source.h"
#include "platform/sources/picture_folder.h"
#include "platform/sources/source_uri.h"
#include "platform/system/atomic_file.h"
#include "platform/system/process.h"
#include "platform/system/process_usage.h"
#include "platform/system/service.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

// For a single picture nothing is measured: that would take longer than to classify it.
ModelOptions model_options(const RunOptions& options) {
  ModelOptions model = options.model;
  const bool is_auto = model.threads == ClassifierOptions::kAutoThreads;
  if (is_auto && is_one_picture(options.camera.source)) model.threads = 1;
  return model;
}

std::string region_of(const View& view, const InputSpec& input) {
  const cv::Rect2d& roi = view.roi;
  return fmt::format(R"({{"roi":[{},{},{},{}],"resize":"{}","width":{},"height":{}}})", roi.x,
                     roi.y, roi.width, roi.height, to_text(input.resize), input.width,
                     input.height);
}

RunInfo describe_run(const RunOptions& options, const LoadedModel& loaded,
                     const SourceInfo& source) {
  const Classifier& classifier = *loaded.classifiers.front();
  RunInfo info;
  info.camera = options.camera.name.empty() ? source.name : options.camera.name;
  info.source = source.description;
  info.live = source.live;
  info.model = classifier.spec().name;
  info.labels = classifier.spec().labels;
  info.class_ids = classifier.spec().class_ids;
  info.unknown = classifier.spec().unknown;
  info.archive = to_text(archive_facts(classifier.spec(), classifier.facts()));
  info.region = region_of(options.camera.view, classifier.spec().input);
  info.sha256 = loaded.sha256;
  return info;
}

// Returns null when there is no file to write a trace to. `lines` outlives it.
std::unique_ptr<Trace> make_trace(const RunOptions& options, const std::optional<AtomicFile>& file,
                                  const RunInfo& info, const Classifier& classifier,
                                  const NonBlockingWriter& lines) {
  if (!file) return nullptr;
  TraceOptions trace_options;
  trace_options.frames = options.profile.trace_frames;
  trace_options.skip = info.live ? kWarmUpFrames : 0;  // files need no warm-up
  trace_options.about = {{"program", "lookout " LOOKOUT_VERSION},
                         {"camera", info.camera},
                         {"model", info.model},
                         {"kernels", classifier.facts().kernels},
                         {"library", library_text(classifier.facts())}};
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

// The end of a run that begins now.
std::optional<Clock::time_point> end_of(const CameraOptions& options) {
  if (options.timeout.count() == 0) return std::nullopt;
  return Clock::now() + options.timeout;
}

PipelineOptions pipeline_options(const RunOptions& options, std::optional<std::size_t> unknown,
                                 Trace* trace, PictureQueue* pictures) {
  PipelineOptions pipeline;
  pipeline.view = options.camera.view;
  pipeline.top_k = options.results.top_k;
  pipeline.threshold = static_cast<float>(options.results.threshold);
  pipeline.state = state_options(options);
  pipeline.state.unknown = unknown;
  pipeline.capture = options.camera.capture;
  pipeline.stats_interval = stats_interval(options.log.stats_interval);
  pipeline.machine_state = [] { return read_machine_state(); };
  pipeline.trace = trace;
  pipeline.pictures = pictures;
  pipeline.end = end_of(options.camera);
  return pipeline;
}

void log_source(const Source& source) {
  const std::string& description = source.info().description;
  if (source.online() && !description.empty()) log_info("source: {}", description);
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
      paused);
}

// Throws when all pictures were skipped.
void require_pictures(const std::string& source, const StatsSnapshot& total) {
  if (total.captured > 0 || total.skipped == 0) return;
  throw Error(ErrorKind::kNoInput,
              fmt::format("{}: none of the {} pictures can be read", source, total.skipped));
}

void log_dropped(std::uint64_t writes) {
  if (writes == 0) return;
  log_warn("stdout's reader was too slow: {} writes were dropped", writes);
}

}  // namespace

bool is_one_picture(const std::string& source) {
  std::error_code not_there;
  return has_picture_extension(source) && std::filesystem::is_regular_file(source, not_there);
}

SourceOptions source_options(const CameraOptions& options, const InputSpec& input) {
  SourceOptions source_options = options.source_options;
  const cv::Size needed = useful_size(input, options.view);
  source_options.needed_width = needed.width;
  source_options.needed_height = needed.height;
  source_options.wait = options.wait == Wait::kAuto ? is_service() : options.wait == Wait::kYes;
  return source_options;
}

void check_before_loading(const RunOptions& options) {
  const auto& command = options.events.on_change;
  if (!command.empty()) check_program("--on-change", command[0]);
  check_http(options.http);
  check_mqtt(options.mqtt);
  require_source(options.camera.source, source_options(options.camera, {}));
}

void run(const RunOptions& options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked) {
  std::optional<AtomicFile> trace_file;
  if (!options.profile.trace.empty()) trace_file.emplace("trace", options.profile.trace);
  check_before_loading(options);
  require_frames(options.camera.source, source_options(options.camera, {}));
  const std::string& snapshots = options.events.snapshot_on_change;
  if (!snapshots.empty()) check_snapshot_folder(snapshots);
  std::optional<OperatorProfile> profile;
  std::function<OperatorTable()> operators;
  if (options.profile.op_sampling > 0) {
    profile.emplace(options.profile.op_sampling, options.profile.op_by);
    operators = [&profile, order = options.profile.op_sort] {
      OperatorTable table = profile->table();
      sort_rows(order, table);
      return table;
    };
  }
  LoadOptions load;
  load.operators = profile ? &*profile : nullptr;
  load.trace = trace_file.has_value();
  load.hash = !options.http.address.empty() || is_service();  // for the metrics
  const LoadedModel loaded = load_models(read_archive(options.model), model_options(options), load);
  const Classifier& model = *loaded.classifiers.front();
  std::atomic<bool> jpegs_wanted = false;
  SourceOptions wishes = source_options(options.camera, model.spec().input);
  wishes.jpegs_wanted = &jpegs_wanted;
  std::shared_ptr<std::atomic<bool>> paused;
  const auto source = open_run_source(options, wishes, paused);
  log_source(*source);

  const RunInfo info = describe_run(options, loaded, source->info());
  ResultOutput output(info.live, stop);
  PictureQueue pictures(options.results.top_k, static_cast<float>(options.results.threshold));
  const RunReporters reporters = make_reporters(
      options, info, operators, output, {stop, operators_asked, jpegs_wanted, paused}, pictures);
  const std::unique_ptr<Trace> trace = make_trace(options, trace_file, info, model, output.lines);
  const PipelineOptions pipeline = pipeline_options(options, model.spec().unknown, trace.get(),
                                                    reporters.take_pictures ? &pictures : nullptr);
  output.lines.wait_until(pipeline.end);
  const StatsSnapshot total =
      run_pipeline(*source, loaded.classifiers, reporters.all, pipeline, stop);
  if (trace) trace->finish();
  const bool ended_early = stop || (pipeline.end && Clock::now() >= *pipeline.end);
  if (!info.live && !ended_early) require_pictures(shown_source(options.camera.source), total);
  if (reporters.overlay != nullptr && !info.live) reporters.overlay->linger(pipeline.end);
  log_dropped(output.lines.dropped());
}

void serve(RunOptions options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked) {
  options.camera.source = "none";
  if (options.http.address.empty()) options.http.address = kServeAddress;
  run(options, stop, operators_asked);
}

}  // namespace lookout
