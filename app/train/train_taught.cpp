#include "app/train/train_taught.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/model/base.h"
#include "app/model/models.h"
#include "app/report/json.h"
#include "app/train/model_metadata.h"
#include "app/train/picture_views.h"
#include "app/train/train_pictures.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/sha256.h"
#include "pipeline/run/open_model.h"
#include "pipeline/training/head_file.h"
#include "platform/sources/open_source.h"
#include "platform/system/atomic_file.h"
#include "platform/system/child_process.h"
#include "platform/system/input_file.h"
#include "platform/system/process.h"
#include "platform/teach/embedding_cache.h"
#include "platform/teach/lesson.h"
#include "platform/teach/teach_preview.h"
#include "platform/teach/teaching.h"
#include "platform/teach/training_order.h"

namespace lookout {
namespace {

using Print = std::function<void(std::string_view)>;

constexpr const char* kNotForPeople =
    "lookout works for those who teach by itself: this is no command for people";

// ---- Limits

#ifndef LOOKOUT_SANITIZED
constexpr rlim_t kMaxMemory = rlim_t{1} << 30;  // bytes that are the process's own
#else
constexpr rlim_t kMaxMemory = RLIM_INFINITY;  // sanitizers reserve more
#endif
constexpr rlim_t kMaxSeconds = rlim_t{3600};  // of a processor
constexpr rlim_t kMaxFile = rlim_t{2} << 30;  // bytes; embeddings of all spaces are the most
constexpr int kLowestPriority = 19;

void set_limit(__rlimit_resource what, rlim_t value) {
  const rlimit both{value, value};
  static_cast<void>(setrlimit(what, &both));
}

// What the system refuses is done without.
void limit_this_process() {
  static_cast<void>(setpriority(PRIO_PROCESS, 0, kLowestPriority));
  // When memory is short, the kernel ends this process before the one with the camera.
  if (std::FILE* file = std::fopen("/proc/self/oom_score_adj", "we")) {
    std::fputs("1000", file);
    std::fclose(file);
  }
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, kMaxSeconds);
  set_limit(RLIMIT_FSIZE, kMaxFile);
  set_limit(RLIMIT_DATA, kMaxMemory);
}

// ---- Progress

// Where the work is, of all of it. With embeddings to compute these are most of it.
class News {
 public:
  explicit News(const Print& print) : print_(print) {}

  // `share`: of the step, 0..1.
  void tell(const std::string& step, double share) {
    constexpr double kStep = 0.01;
    const double begin = step == "pictures" ? 0 : step == "folds" ? pictures_ : kFolds;
    const double end = step == "pictures" ? pictures_ : step == "folds" ? kFolds : 1;
    const double done = begin + (end - begin) * std::clamp(share, 0.0, 1.0);
    if (is_told_ && step == step_ && done < done_ + kStep) return;
    is_told_ = true;
    step_ = step;
    done_ = done;
    write({static_cast<float>(done), step});
  }
  // `missing`: the share of the pictures whose embeddings are to be computed. The next share is
  // told whatever it is: the engine has started then, and time is counted from there.
  void begin(double missing) {
    constexpr double kMost = 0.8;
    pictures_ = kMost * missing;
    is_told_ = false;
  }
  void end(TaughtReport report) { write({1, "model", std::move(report)}); }
  void fail(TeachFailure failure) {
    write({static_cast<float>(done_), step_, {}, std::move(failure)});
  }

 private:
  static constexpr double kFolds = 0.98;  // the model comes in no time

  void write(const TrainingNews& news) const { print_(to_text(news) + "\n"); }

  const Print& print_;
  double pictures_ = 0;
  std::string step_ = "pictures";
  double done_ = 0;
  bool is_told_ = false;
};

// ---- The base

ModelOptions named_base(const TrainingOrder& order) {
  ModelOptions options;
  options.file = order.base.empty() ? installed_base().value_or("").string() : order.base;
  options.threads = 1;
  std::error_code error;
  if (std::filesystem::exists(options.file, error)) return options;
  throw TeachError(
      TeachProblem::kNoBase,
      fmt::format("there is no base to teach from{}: install the package lookout-base, or name an "
                  "archive with model.base",
                  order.base.empty() ? "" : " at " + order.base));
}

// Its engine starts when it is first used: where all embeddings are kept, it would take most of the
// time and of the memory.
class Base {
 public:
  explicit Base(ModelOptions options)
      : options_(std::move(options)),
        archive_(read_archive(options_).archive),
        spec_(spec_of_base(archive_, read_contents(archive_), stated_model(options_))) {}

  const ModelArchive& archive() const { return archive_; }
  const ModelSpec& spec() const { return spec_; }
  Trainer& trainer() {
    if (!trainer_) {
      trainer_ = open_trainer(archive_, {1, operator_libraries(options_), stated_model(options_)});
    }
    return *trainer_;
  }

 private:
  const ModelOptions options_;
  const ModelArchive archive_;
  const ModelSpec spec_;
  std::unique_ptr<Trainer> trainer_;
};

// ---- Embeddings

View view_of(const TaughtWatch& watch) {
  View view;
  view.roi = watch.roi;
  return view;
}

// Computes those of pictures that the cache lacks, and keeps them. `next`: gets the share that is
// done before each picture, and returns whether to go on. A picture that cannot be read gets none.
void embed(const TaughtWatch& watch, const std::vector<const TrainingOrder::Picture*>& pictures,
           Base& base, EmbeddingCache& cache, const std::function<bool(double done)>& next) {
  if (pictures.empty()) return;
  PictureViews views(base.trainer(), view_of(watch), Variants::kUsual);
  std::vector<std::string> files;
  files.reserve(pictures.size());
  for (const auto* entry : pictures) files.push_back(entry->file);
  const auto source = open_pictures("pictures", std::move(files));
  Frame frame;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (!next(static_cast<double>(i) / static_cast<double>(pictures.size()))) return;
    if (source->read(frame, {}) != ReadStatus::kFrame) continue;
    KeptEmbeddings kept;
    views.embed(frame.bgr, kept.directions, kept.profiles);
    cache.keep(pictures[i]->picture.number, kept);
  }
}

void embed_missing(const TrainingOrder& order, Base& base, EmbeddingCache& cache, News& news) {
  std::vector<const TrainingOrder::Picture*> missing;
  for (const auto& entry : order.pictures) {
    if (!cache.find(entry.picture.number)) missing.push_back(&entry);
  }
  news.begin(static_cast<double>(missing.size()) /
             static_cast<double>(std::max<std::size_t>(1, order.pictures.size())));
  embed(order.watch, missing, base, cache, [&news](double done) {
    news.tell("pictures", done);
    return true;
  });
}

// Trainer::class_rows(), kept beside the embeddings.
Embeddings class_rows_of(Base& base, EmbeddingCache& cache) {
  constexpr std::int64_t kRows = 0;  // pictures have numbers from 1 on
  cache.choose({base.archive().sha256(), {}, "the rows of its classes"});
  if (auto kept = cache.find(kRows)) return std::move(kept->directions);
  KeptEmbeddings rows{base.trainer().class_rows(), {}};
  cache.keep(kRows, rows);
  return std::move(rows.directions);
}

// ---- The model

// As `lookout train` says it, without an engine's library: each embedding may be of another one.
std::string producer_text(const Lesson& lesson, const LessonResult& result, const HeadBase& base) {
  std::map<std::string, std::size_t> classes;
  for (const TaughtPicture& picture : lesson.pictures) ++classes[picture.label];
  const Json json{{"tool", "lookout train"},
                  {"lookout", LOOKOUT_VERSION},
                  {"base", {{"name", base.name}, {"sha256", base.sha256}}},
                  {"classes", classes},
                  {"pictures", lesson.pictures.size()},
                  {"right", result.all.right}};
  return to_text(json, 2) + "\n";
}

std::vector<std::string> labels_of_text(const std::string& text) {
  std::vector<std::string> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) labels.push_back(line);
  return labels;
}

// With the head in use.
std::optional<Comparison> comparison_of(const TrainingOrder& order, const HeadBase& base,
                                        const Lesson& lesson, const LessonResult& result) {
  if (order.in_use.empty()) return std::nullopt;
  try {
    const HeadFile head = read_head(read_input("model", order.in_use));
    if (head.base.sha256 != base.sha256) return std::nullopt;
    return compare(lesson, result,
                   {head.model, labels_of_text(head.model.labels), order.in_use_newest});
  } catch (const Error&) {
    return std::nullopt;
  }
}

TaughtReport report_of(const TrainingOrder& order, const LessonResult& result) {
  TaughtReport report;
  report.title = order.watch.title;
  report.roi = order.watch.roi;
  TaughtModel& model = report.model;
  model.time = std::chrono::system_clock::now();
  model.classes = order.watch.classes;
  model.can_tell = result.can_tell;
  model.all = result.all;
  model.day = result.day;
  model.night = result.night;
  if (result.can_tell) model.interval = result.interval;
  model.mistakes = result.mistakes;
  model.confusions = result.confusions;
  return report;
}

void train_as_told(const TrainingOrder& order, News& news) {
  cv::setNumThreads(1);
  news.tell("pictures", 0);
  const AtomicFile output("model", order.output);
  Base base(named_base(order));
  const std::string base_sha256 = base.archive().sha256();
  EmbeddingCache cache(order.folder);
  const Embeddings class_rows = class_rows_of(base, cache);
  cache.choose({base_sha256, order.watch.roi, usual_views()});
  embed_missing(order, base, cache, news);

  std::vector<TaughtPicture> pictures;
  for (const auto& entry : order.pictures) pictures.push_back(entry.picture);
  const Lesson lesson = make_lesson(
      order.watch, pictures, [&cache](std::int64_t number) { return cache.find(number); },
      class_rows);
  LessonResult result = learn(lesson, [&news](double done) { news.tell("folds", done); });
  news.tell("model", 0);
  const HeadBase base_facts{base.spec().name, base_sha256, base.archive().bytes().size()};
  std::vector<std::string> labels = lesson.classes;
  labels.emplace_back(kUnknownLabel);
  result.model.metadata = model_metadata(
      {order.name, lesson.classes.size(), lesson.pictures.size(), base_sha256}, base.spec());
  result.model.labels = joined(labels, "\n") + "\n";
  result.model.producer_info = producer_text(lesson, result, base_facts);
  const std::string bytes = write_head({base_facts, result.model});
  TaughtReport report = report_of(order, result);
  report.model.sha256 = sha256(bytes);
  report.model.comparison = comparison_of(order, base_facts, lesson, result);
  for (const TaughtPicture& picture : lesson.pictures) {
    report.model.newest = std::max(report.model.newest, picture.number);
  }
  output.save([&bytes](const WritePart& write) { write(bytes); });
  news.end(std::move(report));
}

// ---- The preview

class PreviewSession {
 public:
  // Keeps what a training needs besides the pictures, too.
  explicit PreviewSession(const TrainingOrder& order)
      : base_(named_base(order)), cache_(order.folder) {
    class_rows_of(base_, cache_);
  }

  TeachLook look(const TrainingOrder& order, cv::Mat bgr) {
    choose(order.watch);
    TeachPreview preview;
    std::size_t missing = 0;
    for (const auto& entry : order.pictures) {
      const Embeddings* const known = find(entry.picture.number);
      if (known != nullptr) preview.add(entry.picture.label, (*known)[0], known->width());
      missing += known == nullptr ? 1 : 0;
    }
    KeptEmbeddings seen;
    PictureViews view(base_.trainer(), view_of(order.watch), Variants::kNone);
    view.embed(bgr, seen.directions, seen.profiles);
    return {preview.of(seen.directions[0]), missing};
  }

  // Computes embeddings that are missing, for a while.
  void work_ahead(const TrainingOrder& order) {
    constexpr std::chrono::milliseconds kWhile{500};
    std::vector<const TrainingOrder::Picture*> missing;
    for (const auto& entry : order.pictures) {
      if (find(entry.picture.number) == nullptr) missing.push_back(&entry);
    }
    const auto end = Clock::now() + kWhile;
    embed(order.watch, missing, base_, cache_, [end](double) { return Clock::now() < end; });
  }

 private:
  void choose(const TaughtWatch& watch) {
    if (watch.roi == roi_) return;
    roi_ = watch.roi;
    known_.clear();
    cache_.choose({base_.archive().sha256(), roi_, usual_views()});
  }

  // The direction of a picture as it is. Null: it is not known yet.
  const Embeddings* find(std::int64_t number) {
    const auto found = known_.find(number);
    if (found != known_.end()) return &found->second;
    const auto kept = cache_.find(number);
    if (!kept || kept->directions.size() == 0) return nullptr;
    Embeddings& first = known_[number];
    first.add_row(kept->directions[0], kept->directions.width());
    return &first;
  }

  Base base_;
  EmbeddingCache cache_;
  cv::Rect2d roi_;
  std::map<std::int64_t, Embeddings> known_;
};

// Whether somebody asks. Nobody does when nothing comes for a while.
bool is_asked() {
  constexpr int kIdleMs = 30'000;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return poll(&input, 1, kIdleMs) > 0 && read(STDIN_FILENO, &byte, 1) == 1;
}

std::optional<TrainingOrder> read_order() {
  auto order = parse_order(content_of_descriptor(kOrderFile));
  const auto is_side = [](int pixels) { return pixels > 0 && pixels <= Teaching::kMaxSide; };
  if (order && is_side(order->frame.width) && is_side(order->frame.height)) return order;
  return std::nullopt;
}

cv::Mat read_frame(const cv::Size& size) {
  cv::Mat bgr(size, CV_8UC3, cv::Scalar::all(0));
  const std::string pixels = content_of_descriptor(kFrameFile);
  std::copy_n(pixels.data(), std::min(pixels.size(), bgr.total() * bgr.elemSize()), bgr.data);
  return bgr;
}

void preview(const Print& print) {
  std::optional<PreviewSession> session;
  while (is_asked()) {
    const auto order = read_order();
    if (!order) throw Error(ErrorKind::kUsage, kNotForPeople);
    if (!session) {
      end_with(order->parent);
      limit_this_process();
      cv::setNumThreads(1);
      session.emplace(*order);
    }
    print(to_text(session->look(*order, read_frame(order->frame))) + "\n");
    session->work_ahead(*order);
  }
}

// Calls `work`; what it throws is told by `tell`. Returns the exit status.
int status_of(const std::function<void()>& work,
              const std::function<void(TeachFailure failure)>& tell) {
  const auto fail = [&tell](TeachProblem problem, const std::string& sentence, ErrorKind kind) {
    tell({problem, sentence});
    return static_cast<int>(kind);
  };
  try {
    work();
    return 0;
  } catch (const TeachError& error) {
    return fail(error.problem(), error.what(), ErrorKind::kBadData);
  } catch (const SqliteError& error) {
    return fail(TeachProblem::kStorage,
                fmt::format("the embeddings cannot be kept: {}", error.what()), ErrorKind::kOutput);
  } catch (const std::bad_alloc&) {
    return fail(TeachProblem::kNoMemory, "the memory is too small for this training",
                ErrorKind::kInternal);
  } catch (const Error& error) {
    return fail(TeachProblem::kFailed, error.what(), error.kind());
  }
}

}  // namespace

int train_taught(std::istream& input, const Print& print) {
  News news(print);
  const auto train = [&] {
    std::string text(TrainingOrder::kMaxBytes, '\0');
    input.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(input.gcount()));
    const auto order = parse_order(text);
    if (!order) throw Error(ErrorKind::kUsage, kNotForPeople);
    end_with(order->parent);
    limit_this_process();
    train_as_told(*order, news);
  };
  return status_of(train, [&news](TeachFailure failure) { news.fail(std::move(failure)); });
}

int preview_taught(const Print& print) {
  return status_of([&print] { preview(print); },
                   [&print](TeachFailure failure) {
                     print(to_text(TeachLook{{}, 0, std::move(failure)}) + "\n");
                   });
}

}  // namespace lookout
