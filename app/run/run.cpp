#include "app/run/run.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <opencv2/core/utility.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/pipeline.h"
#include "pipeline/torch/torch_classifier.h"
#include "platform/overlay/overlay_reporter.h"
#include "platform/reporters/changes_reporter.h"
#include "platform/reporters/on_change_reporter.h"
#include "platform/reporters/operator_reporter.h"
#include "platform/reporters/snapshot_reporter.h"
#include "platform/reporters/stdout_reporters.h"
#include "platform/reporters/systemd_notifier.h"
#include "platform/reporters/terminal.h"
#include "platform/sources/open_source.h"
#include "platform/system/atomic_file.h"
#include "platform/system/free_processors.h"
#include "platform/system/journal.h"
#include "platform/system/non_blocking_writer.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

constexpr std::uint64_t kWarmUpFrames = 10;  // of a camera, that are not traced

// Sends log lines to the terminal that shows the display, above it.
class TerminalSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit TerminalSink(Terminal& terminal) : terminal_(terminal) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    terminal_.print_above({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  Terminal& terminal_;
};

// While it lives, log lines go to the terminal's display instead of stderr.
class LogAboveDisplay {
 public:
  explicit LogAboveDisplay(Terminal& terminal) : before_(spdlog::default_logger()) {
    auto logger =
        std::make_shared<spdlog::logger>("lookout", std::make_shared<TerminalSink>(terminal));
    logger->set_level(before_->level());
    logger->set_formatter(make_log_formatter());
    spdlog::set_default_logger(logger);
  }
  ~LogAboveDisplay() { spdlog::set_default_logger(before_); }
  LogAboveDisplay(const LogAboveDisplay&) = delete;
  LogAboveDisplay& operator=(const LogAboveDisplay&) = delete;

 private:
  std::shared_ptr<spdlog::logger> before_;
};

std::string compute_text(const RunOptions& options, int threads) {
  if (options.model.workers > 1) return fmt::format("{} workers", options.model.workers);
  return fmt::format(
      "{} thread{}{}", threads, threads == 1 ? "" : "s",
      options.model.threads == TorchClassifierOptions::kAutoThreads ? " (measured)" : "");
}

// What a report has to say of the archive.
nlohmann::ordered_json archive_facts(const TorchClassifier& classifier) {
  const ModelSpec& spec = classifier.spec();
  const TorchModelFacts& facts = classifier.facts();
  return {{"name", spec.name},
          {"producer", spec.producer},
          {"weights", spec.weights},
          {"quantization", spec.quantization},
          {"activations", facts.activations},
          {"kernels", facts.kernels},
          {"libtorch", facts.libtorch},
          {"engine", facts.engine}};
}

std::string as_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_service() { return std::getenv("NOTIFY_SOCKET") != nullptr; }

bool is_in_home(const std::string& file) {
  return file.rfind("/home/", 0) == 0 || file.rfind("/root/", 0) == 0;
}

// What `read` makes of `file`. ProtectHome= of a service hides what its owner sees there:
// permission is refused, but never comes, so that it is told as absent, and systemd does not try
// again and again.
template <typename Read>
auto read_as_service(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    const bool unseen =
        error.kind() == ErrorKind::kNoInput || error.kind() == ErrorKind::kPermission;
    if (!unseen || !is_service() || !is_in_home(file)) throw;
    throw Error(ErrorKind::kNoInput, std::string(error.what()) +
                                         "; a service does not see home folders: put it into "
                                         "/usr/local/share/lookout or /etc/lookout");
  }
}

}  // namespace

std::vector<std::unique_ptr<TorchClassifier>> load_models(const RunOptions& options,
                                                          bool keep_threads,
                                                          OperatorProfile* operators) {
  TorchClassifierOptions classifier_options;
  classifier_options.operators = operators;
  classifier_options.threads = options.model.workers > 1 ? 1 : options.model.threads;
  classifier_options.keep_threads = keep_threads;
  classifier_options.processors =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  classifier_options.free_processors = FreeProcessors();
  classifier_options.labels = read_as_service(
      options.model.labels, [&options] { return read_labels(options.model.labels); });
  const std::filesystem::path path = model_path(options.model.file);
  std::vector<std::unique_ptr<TorchClassifier>> classifiers;
  classifiers.reserve(static_cast<std::size_t>(options.model.workers));
  for (int worker = 0; worker < options.model.workers; ++worker) {
    classifiers.push_back(read_as_service(path.string(), [&path, &classifier_options] {
      return std::make_unique<TorchClassifier>(path, classifier_options);
    }));
  }
  const TorchClassifier& classifier = *classifiers.front();
  const ModelSpec& spec = classifier.spec();
  const TorchModelFacts& facts = classifier.facts();
  spdlog::info("model: {}, {}x{} {}, {} labels, {} activations on {} kernels, {}", spec.name,
               spec.input.width, spec.input.height, to_string(spec.input.resize),
               spec.labels.size(), facts.activations, facts.kernels,
               compute_text(options, classifier.threads()));
  spdlog::debug("archive: {}", as_text(archive_facts(classifier)));
  if (options.model.file.empty() && path.filename() == kSelftestModel) {
    spdlog::warn(
        "no --model given: the built-in self-test model knows only the patterns of test://all; "
        "models/export.py makes one that knows ImageNet's classes");
  }
  if (!facts.has_metadata) {
    spdlog::warn("{} has no metadata.json: ImageNet's size, mean and deviation are assumed",
                 path.string());
  }
  if (!spec.trained) spdlog::warn("{} was not trained: its predictions mean nothing", spec.name);
  return classifiers;
}

SourceOptions source_options(const RunOptions& options, const InputSpec& input) {
  SourceOptions source_options = options.camera.source_options;
  const cv::Size needed = useful_size(input, options.camera.view);
  source_options.needed_width = needed.width;
  source_options.needed_height = needed.height;
  source_options.wait =
      options.camera.wait == Wait::kAuto ? is_service() : options.camera.wait == Wait::kYes;
  return source_options;
}

namespace {

Results results_to_write(Results option) {
  if (option != Results::kAuto) return option;
  return is_journal(STDOUT_FILENO) ? Results::kChanges : Results::kAll;
}

std::chrono::milliseconds stats_interval(std::chrono::milliseconds option) {
  if (option.count() > 0) return option;
  const bool journal = is_journal(STDOUT_FILENO) || is_journal(STDERR_FILENO);
  return journal ? std::chrono::minutes(1) : std::chrono::seconds(1);
}

// Without any of these the state is the best label of each frame, and need not be said.
bool states_are_configured(const RunOptions& options) {
  return options.state.smoothing.count() > 0 || options.state.min_duration.count() > 0 ||
         options.state.enter_threshold || options.state.leave_threshold;
}

void add_change_reporters(const RunOptions& options, const std::string& camera,
                          const std::string& model,
                          std::vector<std::unique_ptr<Reporter>>& reporters) {
  std::unique_ptr<SnapshotReporter> snapshots;
  if (!options.events.snapshot_on_change.empty()) {
    snapshots = std::make_unique<SnapshotReporter>(
        SnapshotFolder(options.events.snapshot_on_change, camera, options.events.snapshot_limit),
        options.events.snapshot_cooldown);
  }
  if (!options.events.on_change.empty()) {
    OnChangeOptions on_change;
    on_change.command = options.events.on_change;
    on_change.time_limit = options.events.on_change_timeout;
    reporters.push_back(
        std::make_unique<OnChangeReporter>(on_change, camera, model, std::move(snapshots)));
  } else if (snapshots) {
    reporters.push_back(std::move(snapshots));
  }
}

std::unique_ptr<Trace> make_trace(const RunOptions& options, const AtomicFile& file, bool live,
                                  const std::string& camera, const TorchClassifier& classifier) {
  TraceOptions trace_options;
  trace_options.frames = options.profile.trace_frames;
  trace_options.skip = live ? kWarmUpFrames : 0;
  trace_options.about = {{"program", "lookout " LOOKOUT_VERSION},
                         {"camera", camera},
                         {"model", classifier.spec().name},
                         {"kernels", classifier.facts().kernels},
                         {"libtorch", classifier.facts().libtorch}};
  return std::make_unique<Trace>(
      trace_options, [file, name = options.profile.trace](const Trace& trace) {
        file.save([&trace](const WritePart& write) { trace.write_json(write); });
        spdlog::info("trace: {} frames in {}", trace.frames(), name);
      });
}

}  // namespace

std::vector<Classifier*> pointers(const std::vector<std::unique_ptr<TorchClassifier>>& models) {
  std::vector<Classifier*> classifiers;
  classifiers.reserve(models.size());
  for (const auto& model : models) classifiers.push_back(model.get());
  return classifiers;
}

void run(const RunOptions& options, std::atomic<bool>& stop, std::atomic<bool>& operators_asked) {
  cv::setNumThreads(1);  // ours are counted
  std::optional<AtomicFile> trace_file;
  if (!options.profile.trace.empty()) trace_file.emplace("trace", options.profile.trace);
  log_api_usage();
  std::optional<OperatorProfile> operators;
  std::function<OperatorTable()> operator_table;
  if (options.profile.op_sampling > 0) {
    operators.emplace(options.profile.op_sampling, options.profile.op_shapes);
    operator_table = [&operators] { return operators->table(); };
  }
  const auto models =
      load_models(options, /*keep_threads=*/false, operators ? &*operators : nullptr);
  const ModelSpec& spec = models.front()->spec();
  const auto source = open_source(options.camera.source, source_options(options, spec.input));
  const SourceInfo& info = source->info();
  if (source->online()) spdlog::info("source: {}", info.description);

  NonBlockingWriter output(
      STDOUT_FILENO, "stdout",
      info.live ? NonBlockingWriter::WhenFull::kDrop : NonBlockingWriter::WhenFull::kWait, stop);
  Terminal terminal(STDOUT_FILENO, output);
  std::optional<LogAboveDisplay> log_above_display;
  std::vector<std::unique_ptr<Reporter>> reporters;
  const std::string camera = options.camera.name.empty() ? info.name : options.camera.name;
  const Results results = results_to_write(options.results.write);
  const bool states = states_are_configured(options);
  if (options.results.format == Format::kJson) {
    reporters.push_back(std::make_unique<JsonReporter>(
        output, JsonFormat(camera, spec.name, spec.labels, as_text(archive_facts(*models.front()))),
        operator_table));
  } else if (info.live && results != Results::kChanges && can_redraw(STDOUT_FILENO)) {
    const std::size_t lines = std::min(options.results.top_k, spec.labels.size());
    reporters.push_back(std::make_unique<TerminalReporter>(
        terminal, fmt::format("{}: {} ({})", camera, spec.name, info.description), lines, states));
    if (isatty(STDERR_FILENO) == 1) log_above_display.emplace(terminal);
  } else {
    reporters.push_back(std::make_unique<TextReporter>(output, states));
  }
  if (results == Results::kChanges) {
    reporters.back() = std::make_unique<ChangesReporter>(std::move(reporters.back()));
  }
  reporters.push_back(std::make_unique<LogReporter>());
  reporters.push_back(std::make_unique<OperatorReporter>(operator_table, operators_asked));
  reporters.push_back(std::make_unique<SystemdNotifier>());
  add_change_reporters(options, camera, spec.name, reporters);
  OverlayReporter* overlay = nullptr;
  if (options.results.overlay) {
    OverlayReporter::Options overlay_options{fmt::format("{}: {}", camera, spec.name),
                                             options.camera.view, !info.live};
    reporters.push_back(std::make_unique<OverlayReporter>(overlay_options, stop));
    overlay = static_cast<OverlayReporter*>(reporters.back().get());
  }

  PipelineOptions pipeline_options;
  pipeline_options.view = options.camera.view;
  pipeline_options.top_k = options.results.top_k;
  pipeline_options.threshold = static_cast<float>(options.results.threshold);
  pipeline_options.state = state_options(options);
  pipeline_options.capture = options.camera.capture;
  pipeline_options.stats_interval = stats_interval(options.log.stats_interval);
  pipeline_options.machine_state = [] { return read_machine_state(); };
  std::unique_ptr<Trace> trace;
  if (trace_file) trace = make_trace(options, *trace_file, info.live, camera, *models.front());
  pipeline_options.trace = trace.get();
  std::optional<Clock::time_point> end;
  if (options.camera.timeout.count() > 0) {
    pipeline_options.duration = options.camera.timeout;
    end = Clock::now() + options.camera.timeout;
  }
  const StatsSnapshot total =
      run_pipeline(*source, pointers(models), reporters, pipeline_options, stop);
  if (trace) trace->finish();
  const bool ended_early = stop || (end && Clock::now() >= *end);
  if (!info.live && !ended_early && total.captured == 0 && total.skipped > 0) {
    throw Error(ErrorKind::kNoInput, fmt::format("{}: none of the {} pictures can be read",
                                                 options.camera.source, total.skipped));
  }
  if (overlay != nullptr && !info.live) overlay->linger(end);
  if (output.dropped() > 0) {
    spdlog::warn("stdout's reader was too slow: {} writes were dropped", output.dropped());
  }
}

}  // namespace lookout
