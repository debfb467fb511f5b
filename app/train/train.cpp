#include "app/train/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <numeric>
#include <opencv2/core.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "app/model/base.h"
#include "app/model/model_facts.h"
#include "app/model/models.h"
#include "app/report/machine_facts.h"
#include "app/report/picture.h"
#include "app/report/report.h"
#include "app/train/model_metadata.h"
#include "app/train/picture_views.h"
#include "app/train/train_pictures.h"
#include "app/train/train_report.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/sha256.h"
#include "pipeline/run/open_model.h"
#include "pipeline/training/folds.h"
#include "pipeline/training/head_file.h"
#include "pipeline/training/scenes.h"
#include "platform/sources/open_source.h"
#include "platform/sources/picture_folder.h"

namespace lookout {
namespace {

constexpr std::uint32_t kSeed = 20271122;

// The user ended the work.
class Interrupted : public std::exception {};

// One line on the terminal that stderr is, which is overwritten; elsewhere log lines, at most one
// in two seconds.
class ProgressLine {
 public:
  // `what` is counted: "pictures".
  explicit ProgressLine(std::string what)
      : what_(std::move(what)),
        terminal_(isatty(STDERR_FILENO) == 1 && is_logged(LogLevel::kInfo)) {}
  // Removes the line.
  ~ProgressLine() {
    if (shown_) write("\r\x1b[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::size_t done, std::size_t all) {
    const auto now = Clock::now();
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(2)))
      return;
    last_ = now;
    const std::string text = progress_text(what_, done, all, now - start_);
    if (terminal_) {
      // The cursor goes back, so that a log line is written over it.
      write("\r\x1b[K" + text + "\r");
      shown_ = true;
    } else {
      log_info("{}", text);
    }
  }

 private:
  static void write(const std::string& text) {
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  }

  std::string what_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

// ---- Embeddings

struct EmbeddedPictures {
  TrainPictures pictures;  // without those that cannot be read
  TrainingSet set;
  std::size_t skipped = 0;  // that cannot be read
};

float brightness_of(const cv::Mat& bgr) {
  const cv::Scalar mean = cv::mean(bgr);
  return static_cast<float>((mean[0] + mean[1] + mean[2]) / 3);
}

// One picture is in memory at a time. Throws Interrupted when `stop` becomes true, Error(kBadData)
// when more than a tenth of the pictures cannot be read, and the trainer's errors.
EmbeddedPictures embed_pictures(const TrainPictures& given, Variants variants, const View& view,
                                Trainer& trainer, const std::atomic<bool>& stop) {
  EmbeddedPictures embedded;
  embedded.pictures = {given.folder, given.labels, {}, given.duplicates};
  TrainingSet& set = embedded.set;
  set.classes = given.labels.size();
  PictureViews views(trainer, view, variants);
  set.views = views.count();
  std::vector<std::string> files;
  for (const TrainPicture& picture : given.pictures) files.push_back(picture.file);
  const std::size_t all = files.size();
  const auto source = open_pictures("pictures", std::move(files));
  ProgressLine progress("pictures");
  Frame frame;
  for (TrainPicture picture : given.pictures) {
    if (stop) throw Interrupted();
    if (source->read(frame, {}) != ReadStatus::kFrame) {
      ++embedded.skipped;
      continue;
    }
    picture.brightness = brightness_of(frame.bgr);
    views.embed(frame.bgr, set.embeddings, set.profiles);
    set.embeddings.reserve(all * set.views);
    set.profiles.reserve(all * set.views);
    set.picture_classes.push_back(picture.label);
    embedded.pictures.pictures.push_back(std::move(picture));
    progress.show(set.pictures() + embedded.skipped, all);
  }
  constexpr std::size_t kTenth = 10;
  if (embedded.skipped * kTenth > all) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{} of {} pictures cannot be read: more than a tenth, so the set is not "
                    "what it should be",
                    embedded.skipped, all));
  }
  return embedded;
}

// The pictures of --other.
TrainPictures foreign_pictures(const std::string& folder) {
  TrainPictures pictures;
  for (const std::string& file : list_pictures(folder, /*recursive=*/true)) {
    pictures.pictures.push_back({file, 0, {}, {}, 0});
  }
  return pictures;
}

// ---- The model

// The options with the installed base where they name none.
ModelOptions with_base(ModelOptions options) {
  if (!options.file.empty()) return options;
  if (const auto base = installed_base()) {
    options.file = base->string();
    log_info("no --model given: the base is {}", options.file);
  }
  return options;
}

void log_base(const ModelOptions& options, const ModelArchive& archive, const ModelSpec& spec,
              const ModelFacts& facts) {
  log_info("base: {}, {}x{} {}, {} activations on {} kernels", spec.name, spec.input.width,
           spec.input.height, to_text(spec.input.resize), facts.activations, facts.kernels);
  if (is_selftest(options, archive)) {
    log_warn(
        "no base is installed, and the built-in self-test model, which knows only the patterns of "
        "test://all, is a poor one for photographs; {}",
        kWayToBase);
  }
  const std::string assumed = assumption_text(spec);
  if (!assumed.empty()) log_warn("base: {}", assumed);
  if (!facts.advice.empty()) log_warn("base: {}", facts.advice);
}

// Of each class in the order of time. Where the times tell nothing, pictures of fixed scenes are in
// the order of their names, which often follow the time, and all others in a random one.
std::vector<std::size_t> order_of(const TrainReport& report) {
  std::vector<std::size_t> order(report.pictures.size());
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
    return report.pictures[a].time.ms < report.pictures[b].time.ms;
  });
  return order;
}

// What is known before the model is trained.
TrainReport describe(const TrainOptions& options, const ModelArchive& base,
                     const std::string& base_name, const EmbeddedPictures& embedded) {
  TrainReport report;
  report.file = options.output;
  report.name = std::filesystem::path(options.output).stem().string();
  report.base = base_name;
  report.base_file = base.path().string();
  report.base_sha256 = base.sha256();
  report.source = embedded.pictures.folder;
  report.equal_classes = options.equal_classes;
  report.labels = embedded.pictures.labels;
  report.labels.emplace_back(kUnknownLabel);
  report.pictures_sha256 = hash_of(embedded.pictures);
  report.pictures = embedded.pictures.pictures;
  report.skipped = embedded.skipped;
  report.duplicates = embedded.pictures.duplicates;
  std::vector<PictureTime> times;
  for (TrainPicture& picture : report.pictures) {
    picture.time = time_of(picture.file);
    times.push_back(picture.time);
  }
  report.blocks_of_time = tell_order(times);
  return report;
}

// Fills in TrainingSet::foreign. The set's other parts are complete.
void add_foreign_classes(const Trainer& trainer, TrainingSet& set) {
  if (set.profiles.size() == 0) return;
  Embeddings known;
  for (std::size_t i = 0; i < set.pictures(); ++i) {
    if (set.is_counter_example(i)) continue;
    known.add_row(set.profiles[set.row(i)], set.profiles.width());
  }
  set.foreign = foreign_profiles(trainer.class_rows(), known);
}

// `model` was trained with `set`. `other`: foreign pictures, embedded as the set was.
void measure_foreign(const TrainedModel& model, const TrainingSet& set,
                     const std::optional<TrainingSet>& other, ForeignReport& report) {
  if (set.foreign.size() > 0) {
    report.classes_of_base = {count_unknown(model.detector, set.foreign), set.foreign.size()};
  }
  if (!other) return;
  report.pictures = {0, other->pictures()};
  for (std::size_t i = 0; i < other->pictures(); ++i) {
    const std::vector<float> scores = scores_of(model, *other, i);
    const bool unknown = *std::max_element(scores.begin(), scores.end()) == scores.back();
    if (unknown) ++report.pictures->recognised;
  }
}

// Completes the report but for what is known when the model is written.
TrainedModel fit(const TrainingSet& set, const std::optional<TrainingSet>& other,
                 const std::atomic<bool>& stop, TrainReport& report) {
  const auto check = [&stop] {
    if (stop) throw Interrupted();
  };
  ProgressLine progress("steps of the training");
  report.scenes = find_scenes(set, check);
  const std::vector<std::size_t> folds =
      make_folds(order_of(report), set.picture_classes, report.scenes);
  report.validation = cross_validate(set, folds, [&](double done) {
    check();
    progress.show(static_cast<std::size_t>(100 * done), 100);
  });
  TrainedModel model = train(set, report.validation);
  measure_foreign(model, set, other, report.foreign);
  evaluate(report);
  check();
  return model;
}

HeldOut validate(const TrainedModel& model, const EmbeddedPictures& embedded,
                 const std::vector<std::string>& labels) {
  HeldOut val;
  val.folder = embedded.pictures.folder;
  val.skipped = embedded.skipped;
  val.duplicates = embedded.pictures.duplicates;
  for (std::size_t i = 0; i < embedded.set.pictures(); ++i) {
    const TrainPicture& picture = embedded.pictures.pictures[i];
    record(picture.file, picture.label, scores_of(model, embedded.set, i), labels, 1, val.counts);
  }
  return val;
}

void add_page_facts(const Trainer& trainer, TrainReport& report) {
  const ModelFacts& facts = trainer.facts();
  report.base_facts = to_facts({report.base_file, report.base_sha256, 0, trainer.spec(), facts});
  report.machine_facts = machine_facts(facts);
  report.thumbnail = thumbnail_of;
}

// The files that are written: an archive and a head beside it, or a head alone.
class TrainOutput {
 public:
  // Throws as AtomicFile.
  explicit TrainOutput(const std::filesystem::path& file)
      : head_path_(std::filesystem::path(file).replace_extension(kHeadSuffix)),
        head_("head", head_path_) {
    if (file != head_path_) archive_.emplace("model", file);
  }

  // Tells the report what was written.
  void save(const TrainedModel& model, const HeadBase& base, Trainer& trainer,
            TrainReport& report) const {
    if (archive_) report.sha256 = save(trainer.write(model), *archive_);
    const std::string bytes = write_head({base, model});
    if (archive_ && bytes.size() > kMaxHeadBytes) {
      log_warn("{} is not written: it would have {} bytes", head_path_.string(), bytes.size());
      return;
    }
    report.head = {head_path_.string(), save(bytes, head_), bytes.size()};
    if (!archive_) report.sha256 = report.head->sha256;
  }

 private:
  static std::string save(const std::string& bytes, const AtomicFile& file) {
    file.save([&bytes](const WritePart& write) { write(bytes); });
    return sha256(bytes);
  }

  std::filesystem::path head_path_;
  AtomicFile head_;
  std::optional<AtomicFile> archive_;
};

// A model is for the engine of its base, whatever its file is called.
void warn_of_suffix(const std::filesystem::path& file, Engine engine) {
  for (const EngineRow& row : kEngines) {
    if (row.engine == engine || file.extension() != row.suffix) continue;
    log_warn("{} becomes {}, as its base is: {} is the suffix of these", file.string(),
             row_of(engine).model, row_of(engine).suffix);
  }
}

// Throws Interrupted.
void train_and_report(const TrainOptions& options, const std::atomic<bool>& stop,
                      const WritePart& print) {
  const auto start = Clock::now();
  const TrainOutput output(options.output);
  const ReportFile page("report", options.report);
  const TrainFolder folder = read_train_pictures(options.folder, options.labels_csv);
  const ModelOptions model_options = with_base(options.model);
  const ModelArchive base = read_archive(model_options).archive;
  const auto trainer =
      open_trainer(base, {std::max(1, model_options.threads), operator_libraries(model_options),
                          stated_model(model_options)});
  log_base(model_options, base, trainer->spec(), trainer->facts());
  warn_of_suffix(options.output, base.engine());
  const auto embed = [&](const TrainPictures& pictures, Variants variants) {
    return embed_pictures(pictures, variants, options.camera.view, *trainer, stop);
  };
  EmbeddedPictures embedded =
      embed(folder.train, options.mirror ? Variants::kMirrored : Variants::kUsual);
  require_enough(embedded.pictures);
  TrainReport report = describe(options, base, trainer->spec().name, embedded);
  TrainingSet& set = embedded.set;
  set.equal_classes = options.equal_classes;
  add_foreign_classes(*trainer, set);
  std::optional<TrainingSet> other;
  if (!options.other.empty()) {
    other = embed(foreign_pictures(options.other), Variants::kNone).set;
    for (std::size_t i = 0; i < other->pictures(); ++i) {
      set.other.add_row(other->ood_features()[other->row(i)], other->ood_features().width());
    }
  }
  report.foreign.folder = options.other;
  TrainedModel model = fit(set, other, stop, report);
  if (!folder.val.pictures.empty()) {
    report.val = validate(model, embed(folder.val, Variants::kNone), report.labels);
  }
  model.metadata = model_metadata(
      {report.name, report.unknown(), report.pictures.size(), report.base_sha256}, trainer->spec());
  model.labels = joined(report.labels, "\n") + "\n";
  model.producer_info = producer_info(report, library_text(trainer->facts()));
  output.save(model, {trainer->spec().name, base.sha256(), base.bytes().size()}, *trainer, report);
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (page.is_html()) add_page_facts(*trainer, report);
  save_and_print(make_report(report), {&page}, options.results.format, print);
}

}  // namespace

std::string progress_text(const std::string& what, std::size_t done, std::size_t all,
                          std::chrono::duration<double> passed) {
  std::string text = fmt::format("{} of {} {}", done, all, what);
  if (done == 0 || passed < std::chrono::seconds(1)) return text;
  const double left = passed.count() * static_cast<double>(all - done) / static_cast<double>(done);
  return text + (left < 100 ? fmt::format(", {:.0f} s left", std::ceil(left))
                            : fmt::format(", {:.0f} min left", std::ceil(left / 60)));
}

bool train(const TrainOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  try {
    train_and_report(options, stop, print);
    return true;
  } catch (const Interrupted&) {
    log_warn("interrupted: {} was not written", options.output);
    return false;
  }
}

}  // namespace lookout
