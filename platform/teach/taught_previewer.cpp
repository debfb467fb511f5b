#include "platform/teach/taught_previewer.h"

#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/wake_event.h"
#include "platform/teach/teach_child.h"

namespace lookout {

// The thread's, which may outlive the previewer.
class TaughtPreviewer::Desk {
 public:
  explicit Desk(std::vector<std::string> command) : command_(std::move(command)) {}

  void work(Turn& turn) {
    if (!turn.order) {
      process_.reset();
      wake_.clear();
      return;
    }
    if (Clock::now() < retry_at_) return;
    TeachLook look;
    try {
      look = look_at(*turn.order, turn.bgr);
    } catch (const std::system_error& error) {
      look.failure = {TeachProblem::kNoStart,
                      "the preview cannot be started: " + error.code().message()};
    } catch (const std::exception& error) {
      look.failure = {TeachProblem::kFailed, error.what()};
    }
    turn.bgr.release();
    if (!look.failure.empty()) {
      process_.reset();
      retry_at_ = Clock::now() + kRetry;
    }
    note(turn.order->watch.name, std::move(look));
  }

  // Any thread.
  std::optional<TeachLook> newest(const std::string& watch) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (watch != watch_) return std::nullopt;
    return look_;
  }
  void cancel() const { wake_.wake(); }

 private:
  static constexpr std::chrono::seconds kRetry{30};  // starts take long on a slow board

  struct Process {
    explicit Process(const std::vector<std::string>& command)
        : child(command, requests.reader(), {order.fd(), frame.fd()}) {
      requests.close_reader();
    }

    MemoryFile order;
    MemoryFile frame;
    Pipe requests;
    TeachChild child;
  };

  static TeachLook failed(TeachProblem problem, const std::string& what) {
    return {{}, 0, {problem, "the preview " + what}};
  }

  // A process that nobody asked for long may have ended, or ends now: another one is asked then.
  TeachLook look_at(TrainingOrder& order, const cv::Mat& bgr) {
    order.frame = bgr.size();
    const cv::Mat pixels = bgr.isContinuous() ? bgr : bgr.clone();
    const std::string text = to_text(order);
    for (;;) {
      const bool is_new = !process_;
      if (is_new) process_.emplace(command_);
      rewrite(process_->order, text);
      rewrite(process_->frame,
              {reinterpret_cast<const char*>(pixels.data), pixels.total() * pixels.elemSize()});
      if (auto look = answer()) return std::move(*look);
      const std::string end = process_->child.end();
      if (is_new) return failed(TeachProblem::kEnded, "ended with " + printable(end));
      process_.reset();
    }
  }

  // Nothing: the process has ended.
  std::optional<TeachLook> answer() {
    constexpr std::chrono::minutes kPatience{5};  // an emulated board loads its base in one
    if (write(process_->requests.writer(), "\n", 1) != 1) return std::nullopt;
    std::string line;
    switch (process_->child.read(line, wake_, kPatience)) {
      case TeachChild::Wait::kLine:
        break;
      case TeachChild::Wait::kEnded:
        return std::nullopt;
      case TeachChild::Wait::kLate:
        return failed(TeachProblem::kNoAnswer, "does not answer");
      case TeachChild::Wait::kCancelled:
        process_.reset();
        wake_.clear();
        return TeachLook{};
    }
    auto look = parse_look(line);
    if (!look) return failed(TeachProblem::kNoAnswer, "answers nonsense");
    return look;
  }

  void note(const std::string& watch, TeachLook look) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const std::string& why = look.failure.sentence;
    if (!why.empty() && why != look_.failure.sentence) {
      log_warn("teach: watch {}: {}", watch, why);
    }
    watch_ = watch;
    look_ = std::move(look);
  }

  const std::vector<std::string> command_;
  WakeEvent wake_;  // the thread, when the process is to end
  std::optional<Process> process_;
  Clock::time_point retry_at_{};
  Mutex mutex_;
  std::string watch_ GUARDED_BY(mutex_);
  TeachLook look_ GUARDED_BY(mutex_);
};

TaughtPreviewer::TaughtPreviewer(std::vector<std::string> command)
    : desk_(std::make_shared<Desk>(std::move(command))) {}

TaughtPreviewer::~TaughtPreviewer() { desk_->cancel(); }

void TaughtPreviewer::look(TrainingOrder order, cv::Mat bgr) {
  const MutexLock lock(mutex_);
  if (!worker_) {
    worker_ = std::make_unique<AsyncWorker<Turn>>(
        "preview", [desk = desk_](Turn& turn, const auto&) { desk->work(turn); });
  }
  worker_->put({std::move(order), std::move(bgr)});
}

std::optional<TeachLook> TaughtPreviewer::newest(const std::string& watch) const {
  return desk_->newest(watch);
}

void TaughtPreviewer::stop() {
  const MutexLock lock(mutex_);
  if (!worker_) return;
  desk_->cancel();
  worker_->put({});
}

}  // namespace lookout
