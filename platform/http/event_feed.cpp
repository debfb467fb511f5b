#include "platform/http/event_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "platform/system/parse_number.h"

namespace lookout {
namespace {

// `fields`: more lines, each with its newline.
std::shared_ptr<const std::string> event(const char* type, const std::string& line,
                                         const std::string& fields = {}) {
  return std::make_shared<const std::string>(
      fmt::format("event: {}\n{}data: {}\n\n", type, fields, line));
}

// Of the result's watch; empty: it has none.
std::string name_of(const Result& result) { return result.watch ? result.watch->name : ""; }

// `1795262400123-`, by the time.
std::string make_run_id() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}-", std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// The time between events; empty: there are none.
std::optional<Clock::duration> interval_of(double rate) {
  if (rate <= 0) return std::nullopt;
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / rate));
}

}  // namespace

class EventFeed::Listener : public HttpStream {
 public:
  Listener(EventFeed& feed, double rate)
      : feed_(feed),
        interval_(interval_of(rate)),
        due_(feed.now_),
        results_(feed.seen_.results),
        last_(feed.now_) {
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

  void put(Event event) {
    if (queue_.size() >= feed_.max_queue_) {
      queue_.pop_front();
      ++feed_.dropped_;
    }
    queue_.push_back(std::move(event));
    last_ = feed_.now_;
  }

  // Whether a classification is due. Beats come a little early, too.
  bool is_due() const {
    return interval_ && results_ < feed_.seen_.results && feed_.now_ + kInterval / 10 >= due_;
  }

  // Those that are new. Some that came late do not make the next ones late.
  void put_classifications(std::vector<Newest>& newest) {
    const std::uint64_t known = results_;
    results_ = feed_.seen_.results;
    due_ = std::max(due_, feed_.now_ - kInterval) + *interval_;
    for (auto& [watch, classification] : newest) {
      if (watch.number <= known) continue;
      if (!classification) {
        classification = event("classification", feed_.lines_.classification(*watch.result));
      }
      results_ = std::max(results_, watch.number);
      put(classification);
    }
  }

  void notify() {
    if (feed_.now_ - last_ >= kSilence) put(std::make_shared<const std::string>(":\n\n"));
    if (!queue_.empty() && ready_) ready_();
  }

 private:
  EventFeed& feed_;
  const std::optional<Clock::duration> interval_;
  Clock::time_point due_;   // the next classification
  std::uint64_t results_;   // how many there were at the last one
  Clock::time_point last_;  // when something was put
  std::deque<Event> queue_;
  std::function<void()> ready_;
};

EventFeed::EventFeed(LiveSlots& slots, LiveLines& lines, std::size_t max_listeners)
    : slots_(slots), lines_(lines), max_listeners_(max_listeners), run_(make_run_id()) {}

std::unique_ptr<HttpStream> EventFeed::open(const ListenerOptions& options, Clock::time_point now) {
  if (listeners_.size() >= max_listeners_) return nullptr;
  slots_.set_listened(true);
  if (is_busy()) {
    advance(now);
  } else {
    seen_ = slots_.counts();
    now_ = now;
  }
  look_at_watches();
  auto listener = std::make_unique<Listener>(*this, options.rate);
  const bool comes_back = !options.last_id.empty();
  if (comes_back) {
    for (const LiveResult& change : changes_since(options.last_id)) {
      listener->put(state_event(change));
    }
  }
  const std::string stats = lines_.stats();
  listener->put(event("status", lines_.status()));
  if (has_names_) listener->put(event("watches", watches_));
  if (!stats.empty()) listener->put(event("stats", stats));
  if (comes_back || !slots_.status().online) return listener;
  for (const LiveWatch& watch : slots_.watches()) {
    if (watch.change) listener->put(state_event(*watch.change));
  }
  return listener;
}

void EventFeed::look_at_watches() {
  const std::vector<LiveWatch> watches = slots_.watches();
  watches_ = lines_.watches();
  has_names_ = watches.front().watch != nullptr;
  max_queue_ = kMaxQueue * watches.size();
}

// All are news to an id of another run.
std::vector<LiveResult> EventFeed::changes_since(const std::string& id) const {
  std::vector<LiveResult> changes = slots_.changes(0, slots_.counts().changes);
  if (id.rfind(run_, 0) != 0) return changes;
  const std::size_t dot = std::min(id.find('.'), id.size());
  const auto number = parse_number<std::uint64_t>(id.substr(run_.size(), dot - run_.size()));
  const std::string name = id.substr(std::min(dot + 1, id.size()));
  // A frame may change the states of several watches.
  const auto last = std::find_if(changes.rbegin(), changes.rend(), [&](const LiveResult& change) {
    const std::uint64_t frame = change.result.sequence;
    return number && (frame < *number || (frame == *number && name_of(change.result) == name));
  });
  changes.erase(changes.begin(), last.base());
  return changes;
}

EventFeed::Event EventFeed::state_event(const LiveResult& change) {
  const std::string name = name_of(change.result);
  return event(
      "state", lines_.state(change),
      fmt::format("id: {}{}{}{}\n", run_, change.result.sequence, name.empty() ? "" : ".", name));
}

void EventFeed::advance(Clock::time_point now) {
  now_ = now;
  slots_.set_listened(is_busy());
  if (!is_busy()) return;
  const LiveSlots::Counts counts = slots_.counts();
  // While the camera is away, the state does not change.
  const bool is_away = !slots_.status().online;
  if (is_away) send_states(counts.changes);
  if (counts.statuses != seen_.statuses) send(event("status", lines_.status()));
  if (counts.lists != seen_.lists) {
    look_at_watches();
    send(event("watches", watches_));
  }
  if (!is_away) send_states(counts.changes);
  if (counts.stats != seen_.stats) send(event("stats", lines_.stats()));
  seen_ = counts;
  std::vector<Newest> newest;  // for all for whom some are due
  for (Listener* listener : listeners_) {
    if (listener->is_due()) {
      if (newest.empty()) newest = newest_results();
      listener->put_classifications(newest);
    }
    listener->notify();
  }
}

// In the order in which they came.
std::vector<EventFeed::Newest> EventFeed::newest_results() const {
  std::vector<Newest> newest;
  for (LiveWatch& watch : slots_.watches()) newest.push_back({std::move(watch), nullptr});
  std::sort(newest.begin(), newest.end(), [](const Newest& one, const Newest& other) {
    return one.watch.number < other.watch.number;
  });
  return newest;
}

// Those of the first `count` changes that are new.
void EventFeed::send_states(std::uint64_t count) {
  for (const LiveResult& change : slots_.changes(seen_.changes, count)) send(state_event(change));
}

void EventFeed::send(const Event& event) {
  for (Listener* listener : listeners_) listener->put(event);
}

}  // namespace lookout
