#include "platform/teach/taught_trainer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/thread.h"
#include "platform/teach/teach_child.h"
#include "platform/teach/teach_progress.h"

namespace lookout {
namespace {

std::string name_of_model(const std::string& watch, const std::filesystem::path& head) {
  return fmt::format("{}-{}", watch, head.stem().string());
}

}  // namespace

TaughtTrainer::TaughtTrainer(TaughtTrainerOptions options)
    : options_(std::move(options)),
      store_(models_folder_of(options_.library)),
      previewer_(options_.preview_command) {}

TaughtTrainer::~TaughtTrainer() {
  cancel();
  const MutexLock lock(start_mutex_);
  if (thread_.joinable()) thread_.join();
}

void TaughtTrainer::start(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                          const PictureFile& file) {
  const MutexLock start_lock(start_mutex_);
  {
    const MutexLock lock(mutex_);
    if (is_running()) throw TeachError(TeachProblem::kTraining, "another training has not ended");
  }
  if (!progress_of(watch, pictures).can_train) {
    throw TeachError(TeachProblem::kTooFewPictures,
                     fmt::format("each class needs {} pictures at least", kLeastPictures),
                     std::to_string(kLeastPictures));
  }
  TrainingOrder order = order_of(watch, pictures, file);
  if (thread_.joinable()) thread_.join();  // it was cancelled, or has ended
  {
    const MutexLock lock(store_mutex_);
    order.output = store_.next_head(watch.name);
    const auto used = store_.models(watch.name).used;
    // One that looks at another rectangle is not compared by pictures of this one.
    if (used && used->roi == watch.roi) {
      order.in_use = store_.used_head(watch.name);
      order.in_use_newest = used->newest;
    }
  }
  order.name = name_of_model(watch.name, order.output);
  {
    const MutexLock lock(mutex_);
    job_ = TeachJob{watch.name, TeachJob::State::kRunning, 0, "pictures"};
    time_left_ = {};
    wake_.clear();
  }
  previewer_.stop();
  try {
    thread_ = start_thread("train", [this, order = std::move(order)] { train(order); });
  } catch (const Error& error) {
    const MutexLock lock(mutex_);
    job_.reset();
    throw TeachError(TeachProblem::kNoStart, error.what());
  }
}

TrainingOrder TaughtTrainer::order_of(const TaughtWatch& watch,
                                      const std::vector<TaughtPicture>& pictures,
                                      const PictureFile& file) const {
  TrainingOrder order;
  order.watch = watch;
  for (const TaughtPicture& picture : pictures) {
    order.pictures.push_back({picture, file(picture.number).string()});
  }
  order.base = options_.base;
  order.folder = options_.library;
  order.parent = getpid();
  return order;
}

void TaughtTrainer::look(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                         const PictureFile& file, cv::Mat bgr) {
  {
    const MutexLock lock(mutex_);
    if (is_running()) return;
  }
  previewer_.look(order_of(watch, pictures, file), std::move(bgr));
}

std::optional<TeachLook> TaughtTrainer::newest_look(const std::string& watch) {
  return previewer_.newest(watch);
}

void TaughtTrainer::cancel() {
  const MutexLock lock(mutex_);
  if (!is_running() || keeps_) return;
  job_->state = TeachJob::State::kCancelled;
  wake_.wake();
}

void TaughtTrainer::train(const TrainingOrder& order) {
  TeachFailure failure;
  try {
    failure = result_of(order);
  } catch (const TeachError& error) {
    failure = {error.problem(), error.what()};
  } catch (const std::system_error& error) {
    failure = {TeachProblem::kNoStart, "the training cannot be started: " + error.code().message()};
  } catch (const std::exception& error) {
    failure = {TeachProblem::kFailed, error.what()};
  }
  const MutexLock lock(mutex_);
  keeps_ = false;
  if (!is_running()) {
    std::error_code missing;
    std::filesystem::remove(order.output, missing);
    return;
  }
  job_->state = failure.empty() ? TeachJob::State::kDone : TeachJob::State::kFailed;
  if (failure.empty()) {
    job_->done = 1;
  } else {
    log_warn("teach: watch {}: {}", order.watch.name, failure.sentence);
  }
  job_->failure = std::move(failure);
}

TeachFailure TaughtTrainer::result_of(const TrainingOrder& order) {
  const MemoryFile input;
  rewrite(input, to_text(order));
  TeachChild child(options_.command, input.fd());
  std::string line;
  std::optional<TaughtReport> report;
  using Wait = TeachChild::Wait;
  Wait wait = child.read(line, wake_, options_.patience);
  for (; wait == Wait::kLine; wait = child.read(line, wake_, options_.patience)) {
    auto news = parse_news(line);
    if (!news) continue;
    if (!news->failure.empty()) return news->failure;
    if (news->report) report = std::move(news->report);
    note(*news);
  }
  if (wait == Wait::kCancelled) return {};
  if (wait == Wait::kLate) return {TeachProblem::kNoAnswer, "the training tells nothing any more"};
  const std::string end = child.end();
  if (!report) return {TeachProblem::kEnded, "the training ended with " + printable(end)};
  keep(order, *report);
  return {};
}

void TaughtTrainer::keep(const TrainingOrder& order, const TaughtReport& report) {
  {
    const MutexLock lock(mutex_);
    keeps_ = is_running();
    if (!keeps_) return;
  }
  const MutexLock lock(store_mutex_);
  store_.keep(order.watch.name, order.output, report);
}

void TaughtTrainer::note(const TrainingNews& news) {
  const MutexLock lock(mutex_);
  if (!is_running()) return;
  job_->done = std::clamp(news.done, 0.F, 1.F);
  job_->step = news.step;
  time_left_.note(job_->done, options_.now());
}

std::optional<TeachJob> TaughtTrainer::job() {
  const MutexLock lock(mutex_);
  auto job = job_;
  if (is_running()) job->left = time_left_.at(options_.now());
  return job;
}

TaughtModels TaughtTrainer::models(const std::string& watch) {
  const MutexLock lock(store_mutex_);
  return store_.models(watch);
}

void TaughtTrainer::use(const std::string& watch, const std::string& sha256) {
  {
    const MutexLock lock(store_mutex_);
    store_.use(watch, sha256);
  }
  options_.reload();
}

void TaughtTrainer::rename(const std::string& watch, const std::string& title) {
  {
    const MutexLock lock(store_mutex_);
    if (!store_.rename(watch, title)) return;
  }
  options_.reload();
}

void TaughtTrainer::begin(const std::string& watch) {
  const MutexLock lock(store_mutex_);
  store_.begin(watch);
}

void TaughtTrainer::retire(const std::string& watch) {
  {
    const MutexLock lock(store_mutex_);
    store_.retire(watch);
  }
  options_.reload();
}

void TaughtTrainer::restore(const std::string& watch) {
  {
    const MutexLock lock(store_mutex_);
    if (!store_.restore(watch)) return;
  }
  options_.reload();
}

// The models first, since a full disk refuses to write the other.
void TaughtTrainer::keep_only(const TeachLibrary::Contents& contents) {
  {
    const MutexLock lock(store_mutex_);
    store_.keep_only(contents.watches);
  }
  if (std::filesystem::exists(options_.library / kEmbeddingsFile)) {
    EmbeddingCache(options_.library).keep_only(contents.pictures);
  }
}

}  // namespace lookout
