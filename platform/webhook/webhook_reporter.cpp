#include "platform/webhook/webhook_reporter.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/printable.h"
#include "pipeline/core/thread.h"
#include "platform/pictures/encode_picture.h"

namespace lookout {
namespace {

constexpr int kMessageQuality = 80;  // of JPEG

const WebhookModule& load_webhook() {
  try {
    return load_module<WebhookModule>(kWebhookModule, kWebhookEntry, kWebhookInterface);
  } catch (const Error& error) {
    const bool no_library = std::string_view(error.what()).find("libcurl") != std::string::npos;
    throw Error(error.kind(), fmt::format("webhook cannot be used: {}{}", error.what(),
                                          no_library ? " (apt install libcurl4)" : ""));
  }
}

const WebhookModule& webhook_module() {
  static const WebhookModule& module = load_webhook();
  return module;
}

// "2027-11-22T10:15:00+01:00", local time.
std::string message_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", local);
  return text.insert(text.size() - 2, ":");
}

MessageFields message_fields(const std::string& camera, const Result& result) {
  MessageFields fields;
  fields.camera = camera;
  if (result.watch) fields.watch = result.watch->name;
  fields.state = result.state.name();
  fields.previous = result.previous_state.name();
  if (result.state.kind == SceneState::Kind::kClass) fields.score = result.state.prediction.score;
  fields.time = message_time(result.timestamp);
  return fields;
}

}  // namespace

std::unique_ptr<WebhookTransport> open_webhook(const WebhookConnection& connection) {
  return webhook_module().open(connection);
}

void check_webhook_module() { webhook_module(); }

// All that the thread uses.
class WebhookReporter::Worker {
 public:
  Worker(WebhookSettings settings, WebhookReporterOptions options,
         std::shared_ptr<WebhookCounters> counters)
      : counters_(std::move(counters)),
        view_(options.view),
        now_(options.chance.now),
        transport_(options.open(settings.connection)),
        sender_(std::move(settings), *transport_, counters_, std::move(options.chance)) {}

  void put(MessageFields fields, cv::Mat picture) {
    {
      const MutexLock lock(mutex_);
      const std::string watch = fields.watch;
      const bool is_first =
          changes_.insert_or_assign(watch, Change{std::move(fields), std::move(picture)}).second;
      if (!is_first) ++counters_->dropped;
    }
    transport_->wake();
  }

  void put(std::set<std::string> watches) {
    {
      const MutexLock lock(mutex_);
      watches_ = std::move(watches);
    }
    transport_->wake();
  }

  void run() {
    try {
      while (!ending()) {
        turn();
        transport_->wait(until(sender_.next_due()));
      }
      finish();
    } catch (const std::exception& error) {
      log_error("webhook: nothing is sent any more: {}", error.what());
    }
    const MutexLock lock(mutex_);
    ended_ = true;
    ended_changed_.notify_all();
  }

  // Returns whether the thread has ended a second after `deadline`.
  bool end_by(Clock::time_point deadline) {
    const MutexLock lock(mutex_);
    deadline_ = deadline;
    transport_->wake();
    while (!ended_) {
      if (!ended_changed_.wait_until(mutex_, deadline + std::chrono::seconds(1))) break;
    }
    return ended_;
  }

 private:
  struct Change {
    MessageFields fields;
    cv::Mat picture;
  };

  bool ending() {
    const MutexLock lock(mutex_);
    return deadline_.has_value();
  }

  std::chrono::milliseconds until(Clock::time_point time) const {
    if (time == Clock::time_point::max()) return std::chrono::hours(1);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - now_());
    return std::max(left, std::chrono::milliseconds(0));
  }

  void turn() {
    std::map<std::string, Change> changes;
    std::optional<std::set<std::string>> watches;
    {
      const MutexLock lock(mutex_);
      changes.swap(changes_);
      watches.swap(watches_);
    }
    if (watches) {
      sender_.keep([&watches](const std::string& watch) { return watches->count(watch) > 0; });
    }
    for (auto& [watch, change] : changes) {
      std::string jpeg;
      if (!change.picture.empty()) {
        jpeg = encode_jpeg(turned(change.picture, view_), kMessageQuality);
      }
      sender_.put({std::move(change.fields), std::move(jpeg)});
    }
    sender_.advance();
  }

  // What waits because it failed is not waited for.
  void finish() {
    Clock::time_point deadline;
    {
      const MutexLock lock(mutex_);
      deadline = deadline_.value();
    }
    turn();
    while (sender_.is_busy(now_()) && Clock::now() < deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      transport_->wait(std::min(left, until(sender_.next_due())));
      sender_.advance();
    }
    sender_.drop_all();
  }

  const std::shared_ptr<WebhookCounters> counters_;
  const View view_;
  const std::function<Clock::time_point()> now_;
  const std::unique_ptr<WebhookTransport> transport_;
  WebhookSender sender_;
  Mutex mutex_;
  ConditionVariable ended_changed_;
  std::map<std::string, Change> changes_ GUARDED_BY(mutex_);  // by the watch
  std::optional<std::set<std::string>> watches_ GUARDED_BY(mutex_);
  std::optional<Clock::time_point> deadline_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
};

WebhookReporter::WebhookReporter(WebhookSettings settings, WebhookReporterOptions options,
                                 const std::shared_ptr<WebhookCounters>& counters)
    : states_(settings.states),
      with_picture_(settings.picture != WebhookPicture::kNone),
      mute_model_(options.mute_model),
      camera_(options.camera),
      patience_(options.patience),
      counters_(counters),
      worker_(std::make_shared<Worker>(std::move(settings), std::move(options), counters)),
      thread_(start_thread("webhook", [worker = worker_] { worker->run(); })) {}

WebhookReporter::~WebhookReporter() {
  if (worker_->end_by(Clock::now() + patience_)) {
    thread_.join();
  } else {
    thread_.detach();
  }
  const std::uint64_t sent = counters_->sent;
  const std::uint64_t failed = counters_->failed;
  const std::uint64_t dropped = counters_->dropped;
  if (sent + failed + dropped == 0) return;
  log_info("webhook: {} message{} sent, {} not sent, {} request{} failed", sent,
           sent == 1 ? "" : "s", dropped, failed, failed == 1 ? "" : "s");
}

void WebhookReporter::watching(const WatchList& watches) {
  std::set<std::string> names;
  for (const Watching& each : watches) names.insert(each.watch ? each.watch->name : "");
  worker_->put(std::move(names));
  for (const std::string& state : states_) {
    const bool is_known =
        state == "unknown" ||
        std::any_of(watches.begin(), watches.end(), [&state](const Watching& each) {
          const auto& labels = each.model->labels;
          return std::find(labels.begin(), labels.end(), state) != labels.end();
        });
    if (is_known || watches.empty()) continue;
    unknown_states_.warn(fmt::format(
        "webhook.states: no model has the label {}, so that it is never sent", printable(state)));
  }
}

void WebhookReporter::report(const Result& result, const Frame& frame) {
  if (!picture_.empty() && copied_ != result.sequence) picture_.release();
  if (!result.state_changed) return;
  if (!mute_model_.empty() && result.model->name == mute_model_) return;
  const std::string_view state = result.state.name();
  if (!states_.empty() && std::find(states_.begin(), states_.end(), state) == states_.end()) {
    return;
  }
  if (with_picture_ && picture_.empty()) {
    picture_ = whole_picture(frame).clone();
    copied_ = result.sequence;
  }
  worker_->put(message_fields(camera_, result), picture_);
}

}  // namespace lookout
