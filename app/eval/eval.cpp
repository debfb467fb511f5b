#include "app/eval/eval.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/dataset/eval_set.h"
#include "app/eval/eval_result.h"
#include "app/model/model_facts.h"
#include "app/model/models.h"
#include "app/report/machine_facts.h"
#include "app/report/picture.h"
#include "app/report/report.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/pipeline.h"
#include "platform/sources/open_source.h"

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
             share_text(counts_.top1(), done), stats.classified_fps);
  }

 private:
  std::unordered_map<std::string, std::size_t> labels_;  // of the pictures
  EvalCounts& counts_;
};

// Sets all of the result but the counts, statistics and what a page needs.
void describe(const LoadedModel& loaded, const Source& source, EvalResult& result) {
  const ModelSpec& spec = loaded.classifiers.front()->spec();
  result.model = spec.name;
  result.file = loaded.path.string();
  result.sha256 = loaded.sha256;
  result.labels = spec.labels;
  result.unknown = spec.unknown;
  result.source = source.info().description;
}

void add_page_facts(const Classifier& model, EvalResult& result) {
  const ModelFacts& facts = model.facts();
  result.model_facts =
      to_facts({result.file, result.sha256, 0, model.spec(), facts, {}, model.threads()});
  result.machine_facts = machine_facts(facts);
  result.thumbnail = thumbnail_of;
}

}  // namespace

bool eval(const EvalOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  const ReportFile output("results", options.output, ReportFormat::kJson);
  const ReportFile page("report", options.report);
  check_eval_set(options.folder, options.labels_csv);
  EvalResult result;
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
  pipeline_options.view = options.camera.view;
  pipeline_options.top_k = EvalCounts::kTop;
  pipeline_options.stats_interval = std::chrono::seconds(2);
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<EvalReporter>(set, result.counts));
  result.stats = run_pipeline(*source, loaded.classifiers, reporters, pipeline_options, stop);
  const std::uint64_t classified = result.counts.pictures().size();
  result.missing = set.pictures.size() - classified - result.stats.skipped;
  if (classified == 0 && result.missing == 0) {
    throw Error(ErrorKind::kNoInput, fmt::format("{}: none of the {} pictures can be read",
                                                 options.folder, set.pictures.size()));
  }
  describe(loaded, *source, result);
  if (page.is_html()) add_page_facts(model, result);
  std::vector<const ReportFile*> reports;
  if (classified > 0) reports = {&output, &page};
  save_and_print(make_report(result), reports, options.results.format, print);
  return result.missing == 0;
}

}  // namespace lookout
