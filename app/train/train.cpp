#include "app/train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "app/model/models.h"
#include "app/report/json.h"
#include "app/output/save_and_print.h"
#include "app/train/embed_pictures.h"
#include "app/train/progress.h"
#include "app/train/train_page.h"
#include "app/train/train_pictures.h"
#include "app/train/train_report.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/sha256.h"
#include "pipeline/run/open_model.h"
#include "pipeline/training/folds.h"
#include "pipeline/training/scenes.h"
#include "platform/sources/picture_folder.h"

namespace lookout {
namespace {

constexpr std::uint32_t kSeed = 20271122;

// The name of a model in this file: "garage" for garage.pt.
std::string name_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

void log_base(const ModelOptions& options, const ModelSpec& spec, const ModelFacts& facts) {
  log_info("base: {}, {}x{} {}, {} activations on {} kernels", spec.name, spec.input.width,
           spec.input.height, to_text(spec.input.resize), facts.activations, facts.kernels);
  if (is_selftest(options.file)) {
    log_warn(
        "no --model given: the built-in self-test model knows only the patterns of test://all and "
        "is "
        "a poor base for photographs; models/export.py makes a good one");
  }
  if (!facts.advice.empty()) log_warn("base: {}", facts.advice);
}

// Of each class in the order of time. Where the times tell nothing, pictures of fixed scenes are in
// the order of their names, which often follow the time, and all others in a random one.
std::vector<std::size_t> order_of(const TrainReport& report) {
  std::vector<std::size_t> order(report.files.size());
  std::iota(order.begin(), order.end(), 0);
  if (!report.blocks_of_time) {
    order = shuffled(order, kSeed);
    const auto fixed = std::stable_partition(order.begin(), order.end(), [&report](std::size_t i) {
      return !report.scenes.is_fixed(i);
    });
    std::sort(fixed, order.end());
    return order;
  }
  std::stable_sort(order.begin(), order.end(), [&report](std::size_t a, std::size_t b) {
    return report.times[a].ms < report.times[b].ms;
  });
  return order;
}

// As people write them: 0.485, not 0.48500001430511475.
std::array<double, 3> decimal(const std::array<float, 3>& values) {
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = rounded(static_cast<double>(values[i]), 6);
  }
  return numbers;
}

std::string metadata(const TrainReport& report, const Trainer& trainer) {
  const ModelSpec& base = trainer.spec();
  const InputSpec& input = base.input;
  Json producer = base.producer;
  producer["lookout"] = LOOKOUT_VERSION;
  const Json json{
      {"name", report.name},
      {"input",
       {{"width", input.width},
        {"height", input.height},
        {"mean", decimal(input.mean)},
        {"std", decimal(input.std)},
        {"channel_order", to_text(input.channel_order)},
        {"resize", to_text(input.resize)}}},
      {"output", to_text(ModelOutput::kProbabilities)},
      {"unknown", report.unknown()},
      {"quantization", base.quantization + "; the last layer, trained by lookout, is of floats"},
      {"producer", producer},
      {"weights",
       fmt::format("last layer: lookout train on {} pictures; all others: {} (sha256 {}), {}",
                   report.files.size(), report.base, report.base_sha256, base.weights)},
      {"trained", true}};
  return to_text(json, 2) + "\n";
}

std::string lines_of(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) text += label + "\n";
  return text;
}

// What is known before the model is trained.
void describe(const TrainOptions& options, const ModelArchive& base, const Trainer& trainer,
              EmbeddedPictures& embedded, TrainReport& report) {
  report.file = options.output;
  report.name = name_of(options.output);
  report.base = trainer.spec().name;
  report.base_file = base.path().string();
  report.base_sha256 = base.sha256();
  report.source = embedded.pictures.folder;
  report.equal_classes = options.equal_classes;
  report.labels = embedded.pictures.labels;
  report.labels.emplace_back(kUnknownLabel);
  report.pictures_sha256 = hash_of(embedded.pictures);
  report.files = std::move(embedded.pictures.files);
  report.classes = embedded.set.picture_classes;
  report.brightness = std::move(embedded.brightness);
  report.skipped = embedded.skipped;
  report.duplicates = embedded.pictures.duplicates;
  for (const std::string& file : report.files) report.times.push_back(time_of(file));
  report.blocks_of_time = tell_order(report.times);
}

void check_classes(const EmbeddedPictures& embedded) {
  std::vector<std::size_t> counts(embedded.set.classes + 1);
  for (const std::size_t index : embedded.set.picture_classes) ++counts[index];
  counts.pop_back();
  require_enough(embedded.pictures.labels, counts);
}

class Training {
 public:
  Training(const TrainOptions& options, const std::atomic<bool>& stop)
      : options_(options), stop_(stop), output_("model", options.output) {
    if (!options.report.empty()) page_.emplace("report", options.report);
  }

  // Throws Interrupted.
  void run(const WritePart& print) {
    const auto start = Clock::now();
    const TrainFolder folder = read_train_pictures(options_.folder, options_.labels_csv);
    const ModelArchive base = read_archive(options_.model);
    const auto trainer =
        open_trainer(base, {std::max(1, options_.model.threads), operator_libraries(options_.model),
                            stated_model(options_.model)});
    log_base(options_.model, trainer->spec(), trainer->facts());
    EmbeddedPictures embedded =
        embed(folder.train, options_.mirror ? Variants::kMirrored : Variants::kUsual, *trainer);
    check_classes(embedded);
    embedded.set.equal_classes = options_.equal_classes;
    describe(options_, base, *trainer, embedded, report_);
    add_foreign_classes(*trainer, embedded.set);
    const std::optional<TrainingSet> other = embed_other(embedded.set, *trainer);
    TrainedModel model = fit(embedded.set, other ? &*other : nullptr);
    if (!folder.val.files.empty()) validate(model, folder.val, *trainer);
    model.metadata = metadata(report_, *trainer);
    model.labels = lines_of(report_.labels);
    model.producer_info = producer_info(report_, library_text(trainer->facts()));
    save(trainer->write(model));
    report_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    write_report(trainer->facts(), print);
  }

 private:
  EmbeddedPictures embed(const TrainPictures& pictures, Variants variants, Trainer& trainer) {
    ProgressLine progress("pictures");
    return embed_pictures(pictures, options_.camera.view, variants, trainer, progress, stop_);
  }

  void validate(const TrainedModel& model, const TrainPictures& pictures, Trainer& trainer) {
    const EmbeddedPictures embedded = embed(pictures, Variants::kNone, trainer);
    HeldOut& val = report_.val.emplace();
    val.folder = pictures.folder;
    val.skipped = embedded.skipped;
    val.duplicates = pictures.duplicates;
    for (std::size_t i = 0; i < embedded.set.pictures(); ++i) {
      record(embedded.pictures.files[i], embedded.set.picture_classes[i],
             scores_of(model, embedded.set, i), report_.labels, 1, val.counts);
    }
  }

  // The pictures of --other, which `set` gets for its threshold.
  std::optional<TrainingSet> embed_other(TrainingSet& set, Trainer& trainer) {
    if (options_.other.empty()) return std::nullopt;
    TrainPictures pictures;
    pictures.files = list_pictures(options_.other, /*recursive=*/true);
    pictures.classes.resize(pictures.files.size());
    pictures.hashes.resize(pictures.files.size());
    TrainingSet other = embed(pictures, Variants::kNone, trainer).set;
    for (std::size_t i = 0; i < other.pictures(); ++i) {
      set.other.add_row(other.familiar()[other.row(i)], other.familiar().width());
    }
    return other;
  }

  TrainedModel fit(const TrainingSet& set, const TrainingSet* other) {
    ProgressLine line("steps of the training");
    const auto check = [this] {
      if (stop_) throw Interrupted();
    };
    report_.scenes = find_scenes(set, check);
    const std::vector<std::size_t> folds =
        make_folds(order_of(report_), set.picture_classes, report_.scenes);
    report_.validation = cross_validate(set, folds, [&](double done) {
      check();
      line.show(static_cast<std::size_t>(100 * done), 100);
    });
    TrainedModel model = lookout::train(set, report_.validation);
    report_.foreign = measure_foreign(model, set, other);
    report_.foreign.folder = options_.other;
    evaluate(report_);
    if (stop_) throw Interrupted();
    return model;
  }

  void save(const std::string& bytes) {
    output_.save([&bytes](const WritePart& write) { write(bytes); });
    report_.sha256 = sha256(bytes);
  }

  void write_report(const ModelFacts& facts, const WritePart& print) {
    const std::string html = page_ ? to_html(report_, facts) : "";
    const bool as_json = options_.results.format == Format::kJson;
    save_and_print({{page_, html}}, as_json ? to_json(report_) : to_text(report_), print);
  }

  const TrainOptions& options_;
  const std::atomic<bool>& stop_;
  AtomicFile output_;
  std::optional<AtomicFile> page_;
  TrainReport report_;
};

}  // namespace

bool train(const TrainOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  try {
    Training(options, stop).run(print);
    return true;
  } catch (const Interrupted&) {
    log_warn("interrupted: {} was not written", options.output);
    return false;
  }
}

}  // namespace lookout
