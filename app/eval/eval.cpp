#include "app/eval/eval.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/dataset/eval_set.h"
#include "app/eval/eval_page.h"
#include "app/eval/eval_result.h"
#include "app/model/models.h"
#include "app/output/save_and_print.h"
#include "app/report/machine_facts.h"
#include "app/report/picture.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/pipeline.h"
#include "platform/reporters/terminal.h"
#include "platform/sources/open_source.h"
#include "platform/system/atomic_file.h"
#include "platform/system/results_output.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

// Counts the results, and logs the progress.
class EvalReporter : public Reporter {
 public:
  EvalReporter(const EvalSet& set, EvalCounts& counts) : counts_(counts) {
    for (const auto& [file, label] : set.pictures) labels_[file] = label;
  }

  void report(const Result& result, const Frame& frame) override {
    counts_.record(frame.origin, labels_.at(frame.origin), result.top, result.durations.inference);
  }

  void tick(const StatsSnapshot& stats) override {
    if (stats.final) return;
    const std::uint64_t done = counts_.pictures().size();
    log_info("{} of {} pictures; top-1 {}; {:.1f} a second", done + stats.skipped, labels_.size(),
             share_of(counts_.top1(), done), stats.classified_fps);
  }

 private:
  std::unordered_map<std::string, std::size_t> labels_;  // of the pictures
  EvalCounts& counts_;
};

Facts model_facts(const EvalReport& report, const Classifier& model) {
  const ModelSpec& spec = model.spec();
  const ModelFacts& facts = model.facts();
  return {{"archive", report.file},
          {"sha256", report.sha256},
          {"input", fmt::format("{}x{} {}", spec.input.width, spec.input.height,
                                to_text(spec.input.resize))},
          {"labels", std::to_string(spec.labels.size())},
          {"activations", facts.activations + ", computed by " + facts.kernels + " kernels"},
          {"quantization", spec.quantization},
          {"producer", producer_text(spec)},
          {"weights", spec.weights},
          {"trained", spec.trained ? "yes" : "no: random weights"},
          {"threads", fmt::format("{}", model.threads())}};
}

std::string to_html(const EvalReport& report, const Classifier& model) {
  const SystemInfo system = read_system_info();
  const ModelFacts& facts = model.facts();
  EvalPageFacts page;
  page.model = model_facts(report, model);
  page.machine = machine_facts(system, machine_kind(system, kBuiltForArm), processors(),
                               fmt::format("{}, {}", library_text(facts), facts.engine));
  page.made_by = made_by(LOOKOUT_VERSION);
  page.thumbnail = thumbnail_of;
  return to_html(report, page);
}

// Sets all of the report but the counts and statistics.
void describe(const LoadedModel& loaded, const Source& source, EvalReport& report) {
  const ModelSpec& spec = loaded.classifiers.front()->spec();
  report.model = spec.name;
  report.file = loaded.path.string();
  report.sha256 = loaded.sha256;
  report.labels = spec.labels;
  report.unknown = spec.unknown;
  report.source = source.info().description;
}

void write_reports(const EvalOptions& options, const EvalReport& report, const Classifier& model,
                   const std::optional<AtomicFile>& output, const std::optional<AtomicFile>& page,
                   const WritePart& print) {
  const bool some = !report.counts.pictures().empty();
  const std::optional<AtomicFile> none;
  const bool as_json = options.results.format == Format::kJson;
  const std::string json = as_json || output ? to_json(report) : "";
  const std::string html = some && page ? to_html(report, model) : "";
  const std::size_t columns = isatty(results_fd()) == 1 ? terminal_size(results_fd()).columns : 0;
  save_and_print({{some ? output : none, json}, {some ? page : none, html}},
                 as_json ? json : to_text(report, columns), print);
}

std::optional<AtomicFile> file_for(const char* what, const std::string& path) {
  if (path.empty()) return std::nullopt;
  return AtomicFile(what, path);
}

}  // namespace

bool eval(const EvalOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  const auto output = file_for("results", options.output);
  const auto page = file_for("report", options.report);
  check_eval_set(options.folder, options.labels_csv);
  EvalReport report;
  LoadOptions load;
  load.hash = true;
  const LoadedModel loaded = load_models(read_archive(options.model), options.model, load);
  const Classifier& model = *loaded.classifiers.front();
  const EvalSet set =
      read_eval_set(options.folder, options.labels_csv, model.spec().labels, model.spec().unknown);
  std::vector<std::string> files;
  for (const LabelledPicture& picture : set.pictures) files.push_back(picture.file);
  const auto source = open_pictures(set.folder, std::move(files));

  PipelineOptions pipeline_options;
  pipeline_options.top_k = EvalCounts::kTop;
  pipeline_options.stats_interval = std::chrono::seconds(2);
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<EvalReporter>(set, report.counts));
  report.stats = run_pipeline(*source, loaded.classifiers, reporters, pipeline_options, stop);
  const std::uint64_t classified = report.counts.pictures().size();
  report.missing = set.pictures.size() - classified - report.stats.skipped;
  if (classified == 0 && report.missing == 0) {
    throw Error(ErrorKind::kNoInput, fmt::format("{}: none of the {} pictures can be read",
                                                 options.folder, set.pictures.size()));
  }
  describe(loaded, *source, report);
  write_reports(options, report, model, output, page, print);
  return report.missing == 0;
}

}  // namespace lookout
