#include "platform/http/event_feed.h"

#include <deque>
#include <utility>

namespace lookout {
namespace {

std::shared_ptr<const std::string> event(const std::string& type, const std::string& line) {
  return std::make_shared<const std::string>("event: " + type + "\ndata: " + line + "\n\n");
}

}  // namespace

class EventFeed::Listener : public HttpStream {
 public:
  explicit Listener(EventFeed& feed) : feed_(feed), last_(feed.now_) {
    feed_.listeners_.insert(this);
  }
  ~Listener() override { feed_.listeners_.erase(this); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void on_ready(std::function<void()> ready) override { ready_ = std::move(ready); }

  bool next(HttpPart& part) override {
    if (queue_.empty()) return false;
    part.body = std::move(queue_.front());
    queue_.pop_front();
    return true;
  }

  void put(std::shared_ptr<const std::string> event) {
    if (queue_.size() == kMaxQueue) {
      queue_.pop_front();
      ++feed_.dropped_;
    }
    queue_.push_back(std::move(event));
    last_ = feed_.now_;
  }

  void notify() {
    if (feed_.now_ - last_ >= kSilence) put(std::make_shared<const std::string>(":\n\n"));
    if (!queue_.empty() && ready_) ready_();
  }

 private:
  EventFeed& feed_;
  Clock::time_point last_;  // when something was put
  std::deque<std::shared_ptr<const std::string>> queue_;
  std::function<void()> ready_;
};

EventFeed::EventFeed(LiveSlots& slots, LiveLines& lines, std::size_t max_listeners)
    : slots_(slots), lines_(lines), max_listeners_(max_listeners) {}

std::unique_ptr<HttpStream> EventFeed::open(Clock::time_point now) {
  if (listeners_.size() >= max_listeners_) return nullptr;
  slots_.set_listened(true);
  if (is_busy()) {
    advance(now);
  } else {
    seen_ = slots_.counts();
    now_ = now;
  }
  auto listener = std::make_unique<Listener>(*this);
  const std::string stats = lines_.stats();
  const std::string state = lines_.state();
  listener->put(event("status", lines_.status()));
  if (!stats.empty()) listener->put(event("stats", stats));
  if (!state.empty()) listener->put(event("state", state));
  return listener;
}

void EventFeed::advance(Clock::time_point now) {
  now_ = now;
  slots_.set_listened(is_busy());
  if (!is_busy()) return;
  const LiveSlots::Counts counts = slots_.counts();
  if (counts.statuses != seen_.statuses) send("status", lines_.status());
  if (counts.changes != seen_.changes) send("state", lines_.state());
  if (counts.stats != seen_.stats) send("stats", lines_.stats());
  const std::uint64_t results = seen_.results;
  seen_ = counts;
  // Beats come a little early, too.
  if (counts.results != results && now - last_classification_ >= kInterval * 9 / 10) {
    last_classification_ = now;
    send("classification", lines_.classification());
  } else {
    seen_.results = results;
  }
  for (Listener* listener : listeners_) listener->notify();
}

void EventFeed::send(const std::string& type, const std::string& line) {
  if (line.empty()) return;
  const auto text = event(type, line);
  for (Listener* listener : listeners_) listener->put(text);
}

}  // namespace lookout
