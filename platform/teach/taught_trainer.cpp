#include "platform/teach/taught_trainer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/thread.h"
#include "platform/system/child_process.h"
#include "platform/teach/teach_progress.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxLine = 64 << 10;  // bytes
// For the environment: OpenBLAS, which Debian's OpenCV brings, would start threads.
constexpr const char* kOneThread = "OPENBLAS_NUM_THREADS=1";

void write_order(int fd, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const auto count =
        pwrite(fd, text.data() + written, text.size() - written, static_cast<off_t>(written));
    if (count <= 0) throw std::system_error(errno, std::generic_category());
    written += static_cast<std::size_t>(count);
  }
}

std::string name_of_model(const std::string& watch, const std::filesystem::path& head) {
  return fmt::format("{}-{}", watch, head.stem().string());
}

}  // namespace

// The process. Used by the thread that made it, with which it ends.
class TaughtTrainer::Child {
 public:
  enum class Wait { kLine, kEnded, kCancelled };

  Child(const std::vector<std::string>& command, const TrainingOrder& order) {
    write_order(order_.fd(), to_text(order));
    process_.emplace(
        ProcessOptions{command, {kOneThread}, {order_.fd(), output_.writer(), errors_.fd()}});
    output_.close_writer();
  }

  // Waits for a line of its stdout, or until `wake` is woken. One that is too long is an end.
  Wait read(std::string& line, const WakeEvent& wake) {
    for (;;) {
      const auto end = text_.find('\n');
      if (end != std::string::npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return Wait::kLine;
      }
      std::array<pollfd, 2> events{{{output_.reader(), POLLIN, 0}, {wake.fd(), POLLIN, 0}}};
      if (poll(events.data(), events.size(), -1) < 0) continue;
      if (events[1].revents != 0) return Wait::kCancelled;
      std::array<char, 4096> part{};
      const auto count = ::read(output_.reader(), part.data(), part.size());
      if (count <= 0 || text_.size() > kMaxLine) return Wait::kEnded;
      text_.append(part.data(), static_cast<std::size_t>(count));
    }
  }

  // Waits for its end, and kills it if that does not come. Returns how it ended.
  std::string end() {
    constexpr std::chrono::seconds kPatience{5};
    process_->wait(kPatience);
    const std::string errors = errors_.first_line();
    const std::string end = describe_end(process_->kill());
    return errors.empty() ? end : fmt::format("{}: {}", end, errors);
  }

 private:
  class Pipe {
   public:
    Pipe() {
      if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category());
      }
    }
    ~Pipe() {
      close(ends_[0]);
      close_writer();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int reader() const { return ends_[0]; }
    int writer() const { return ends_[1]; }
    void close_writer() {
      if (ends_[1] >= 0) close(ends_[1]);
      ends_[1] = -1;
    }

   private:
    std::array<int, 2> ends_{-1, -1};
  };

  MemoryFile order_;
  MemoryFile errors_;
  Pipe output_;
  std::string text_;                     // that was read and is no whole line
  std::optional<ChildProcess> process_;  // last: it gets the descriptors of the others
};

TaughtTrainer::TaughtTrainer(TaughtTrainerOptions options)
    : options_(std::move(options)), store_(models_folder_of(options_.library)) {}

TaughtTrainer::~TaughtTrainer() {
  cancel();
  const MutexLock lock(start_mutex_);
  if (thread_.joinable()) thread_.join();
}

void TaughtTrainer::start(const TaughtWatch& watch, const std::vector<TaughtPicture>& pictures,
                          const std::function<std::filesystem::path(std::int64_t)>& file) {
  const MutexLock start_lock(start_mutex_);
  {
    const MutexLock lock(mutex_);
    if (is_running()) throw TeachError(TeachProblem::kHeld, "another training has not ended");
  }
  if (!progress_of(watch, pictures).can_train) {
    throw TeachError(
        TeachProblem::kInvalid,
        fmt::format("there are too few pictures: each class needs {}", kLeastPictures));
  }
  TrainingOrder order;
  order.watch = watch;
  for (const TaughtPicture& picture : pictures) {
    order.pictures.push_back({picture, file(picture.number).string()});
  }
  order.base = options_.base;
  order.folder = options_.library;
  order.parent = getpid();
  {
    const MutexLock lock(store_mutex_);
    order.output = store_.next_head(watch.name);
    order.in_use = store_.used_head(watch.name);
  }
  order.name = name_of_model(watch.name, order.output);
  if (thread_.joinable()) thread_.join();  // it was cancelled, or has ended
  {
    const MutexLock lock(mutex_);
    job_ = TeachJob{watch.name, TeachJob::State::kRunning, 0, "pictures", {}};
    wake_.clear();
  }
  try {
    thread_ = start_thread("train", [this, order = std::move(order)] { train(order); });
  } catch (const Error& error) {
    const MutexLock lock(mutex_);
    job_.reset();
    throw TeachError(TeachProblem::kStorage, error.what());
  }
}

void TaughtTrainer::cancel() {
  const MutexLock lock(mutex_);
  if (!is_running()) return;
  job_->state = TeachJob::State::kCancelled;
  wake_.wake();
}

void TaughtTrainer::train(const TrainingOrder& order) {
  std::string problem;
  try {
    problem = result_of(order);
  } catch (const std::system_error& error) {
    problem = "the training cannot be started: " + error.code().message();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const MutexLock lock(mutex_);
  if (!is_running()) return;
  job_->state = problem.empty() ? TeachJob::State::kDone : TeachJob::State::kFailed;
  job_->message = problem;
  if (problem.empty()) {
    job_->done = 1;
  } else {
    log_warn("teach: watch {}: {}", order.watch.name, problem);
  }
}

std::string TaughtTrainer::result_of(const TrainingOrder& order) {
  Child child(options_.command, order);
  std::string line;
  std::optional<TaughtReport> report;
  Child::Wait wait = child.read(line, wake_);
  for (; wait == Child::Wait::kLine; wait = child.read(line, wake_)) {
    auto news = parse_news(line);
    if (!news) continue;
    if (!news->error.empty()) return printable(news->error);
    if (news->report) report = std::move(news->report);
    note(*news);
  }
  if (wait == Child::Wait::kCancelled) return {};
  const std::string end = child.end();
  if (!report) return "the training ended with " + printable(end);
  const MutexLock lock(store_mutex_);
  store_.keep(order.watch.name, order.output, *report);
  return {};
}

void TaughtTrainer::note(const TrainingNews& news) {
  const MutexLock lock(mutex_);
  if (!is_running()) return;
  job_->done = std::clamp(news.done, 0.F, 1.F);
  job_->step = news.step;
}

std::optional<TeachJob> TaughtTrainer::job() {
  const MutexLock lock(mutex_);
  return job_;
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

void TaughtTrainer::retire(const std::string& watch) {
  {
    const MutexLock lock(store_mutex_);
    store_.retire(watch);
  }
  options_.reload();
}

}  // namespace lookout
