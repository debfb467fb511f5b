#include "app/eval/eval.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <vector>

#include "app/eval/eval_result.h"
#include "app/eval/eval_set.h"
#include "app/output/save_and_print.h"
#include "app/run/models.h"
#include "pipeline/error.h"
#include "pipeline/pipeline.h"
#include "platform/reporters/terminal.h"
#include "platform/sources/open_source.h"
#include "platform/system/atomic_file.h"
#include "platform/system/sha256.h"

namespace lookout {
namespace {

// Counts the results, and logs the progress.
class EvalReporter : public Reporter {
 public:
  EvalReporter(const EvalSet& set, EvalCounts& counts) : set_(set), counts_(counts) {}

  void report(const Result& result, const Frame& frame) override {
    counts_.record(frame.origin, set_.classes.at(frame.origin), result.top,
                   result.durations.inference);
  }

  void tick(const StatsSnapshot& stats) override {
    if (stats.final) return;
    const std::uint64_t done = counts_.pictures().size();
    spdlog::info("{} of {} pictures; top-1 {}; {:.1f} a second", done + stats.skipped,
                 set_.pictures.size(), share_of(counts_.top1(), done), stats.classified_fps);
  }

 private:
  const EvalSet& set_;
  EvalCounts& counts_;
};

}  // namespace

void eval(const EvalOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  std::optional<AtomicFile> output;
  if (!options.output.empty()) output.emplace("results", options.output);
  const auto models = load_models(options.model, /*keep_threads=*/false);
  const ModelSpec& spec = models.front()->spec();
  const EvalSet set = read_eval_set(options.folder, options.labels_csv, spec.labels);
  const auto source = open_pictures(options.folder, set.pictures);

  EvalReport report;
  PipelineOptions pipeline_options;
  pipeline_options.top_k = EvalCounts::kTop;
  pipeline_options.stats_interval = std::chrono::seconds(2);
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<EvalReporter>(set, report.counts));
  report.stats = run_pipeline(*source, models, reporters, pipeline_options, stop);
  const std::uint64_t classified = report.counts.pictures().size();
  report.missing = set.pictures.size() - classified - report.stats.skipped;
  if (classified == 0 && report.missing == 0) {
    throw Error(ErrorKind::kNoInput, fmt::format("{}: none of the {} pictures can be read",
                                                 options.folder, set.pictures.size()));
  }

  const std::filesystem::path path = model_path(options.model.file);
  report.model = spec.name;
  report.file = path.string();
  report.sha256 = sha256_of_file(path);
  report.labels = spec.labels;
  report.source = source->info().description;
  if (classified == 0) output.reset();
  const std::string json = to_json(report);
  const std::size_t columns = isatty(STDOUT_FILENO) == 1 ? terminal_size(STDOUT_FILENO).columns : 0;
  save_and_print(output, json,
                 options.results.format == Format::kJson ? json : to_text(report, columns), print);
}

}  // namespace lookout
