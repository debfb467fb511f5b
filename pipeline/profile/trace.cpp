#include "pipeline/profile/trace.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>

#include "pipeline/error.h"
#include "pipeline/results/format.h"
#include "pipeline/thread.h"

namespace lookout {
namespace {

constexpr std::size_t kMostEvents = 500'000;  // 16 MB: thousands of frames of a small network
constexpr std::size_t kPart = 64 << 10;       // bytes that are written at a time
// Viewers compute with microseconds as floating-point numbers and may be a nanosecond off: stages,
// each of which begins when the one before ends, must not overlap.
constexpr std::int64_t kGapNs = 2;

std::int64_t ns(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

// Microseconds, as the format has them, to the nanosecond: what nests must go on nesting.
std::string us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::string thread_name(pid_t id) {
  if (id == getpid()) return "main";
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

// Gathers text into larger parts.
class Parts {
 public:
  explicit Parts(const std::function<void(std::string_view)>& out) : out_(out) {}
  // An element of the JSON array.
  void event(const std::string& text) {
    part_ += first_ ? "\n" : ",\n";
    part_ += text;
    first_ = false;
    if (part_.size() >= kPart) flush();
  }
  void text(std::string_view text) { part_ += text; }
  void flush() {
    out_(part_);
    part_.clear();
  }

 private:
  const std::function<void(std::string_view)>& out_;
  std::string part_;
  bool first_ = true;
};

}  // namespace

Trace::Trace(TraceOptions options, Save save)
    : options_(std::move(options)), save_(std::move(save)) {}

Trace::~Trace() {
  try {
    finish();
  } catch (const std::exception&) {
    // finish() is there to tell.
  }
}

std::uint32_t Trace::this_thread() {
  static thread_local const pid_t id = gettid();
  const auto known =
      std::find_if(threads_.begin(), threads_.end(), [](const Thread& t) { return t.id == id; });
  const auto index = static_cast<std::uint32_t>(known - threads_.begin());
  if (known == threads_.end()) threads_.push_back({id, thread_name(id)});
  return index;
}

// Holding the lock.
void Trace::add(std::uint32_t what, std::uint64_t frame, Clock::time_point start,
                Clock::time_point end) {
  if (events_.size() >= kMostEvents) return;
  events_.push_back(
      {frame, ns(start.time_since_epoch()), ns(std::max(end, start) - start), this_thread(), what});
}

void Trace::record(Stage stage, std::uint64_t frame, Clock::time_point start,
                   Clock::time_point end) {
  if (!traces(frame)) return;
  bool complete = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    add(static_cast<std::uint32_t>(stage), frame, start, end);
    const bool room = events_.size() < kMostEvents;
    if (stage == Stage::kReport && room) reported_.push_back(frame);
    complete = !room || reported_.size() >= options_.frames;
    if (complete) ended_ = true;
  }
  if (complete) start_saving();
}

void Trace::record_operator(std::string_view model, std::string_view name, std::uint64_t frame,
                            Clock::time_point start, Clock::time_point end) {
  std::pair<std::string, std::string> key(model, name);
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  const auto [entry, is_new] =
      operator_indices_.try_emplace(key, static_cast<std::uint32_t>(operators_.size()));
  if (is_new) operators_.push_back(std::move(key));
  add(kStages + entry->second, frame, start, end);
}

// Destructors of TraceSpan call this, so it must not throw.
void Trace::start_saving() {
  try {
    saver_ = start_thread("trace", [this] { save(); });
  } catch (const Error&) {
    // Without a thread, finish() saves.
  }
}

void Trace::save() {
  saved_ = true;
  try {
    std::sort(reported_.begin(), reported_.end());
    save_(*this);
  } catch (...) {
    error_ = std::current_exception();
  }
  events_ = {};
}

void Trace::finish() {
  ended_ = true;
  if (saver_.joinable()) saver_.join();
  if (!saved_) save();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

// Less what belongs to frames that did not get to the end, but for their capture; outer events
// before those within them. Times begin with the first.
std::vector<Trace::Event> Trace::complete_events() const {
  std::vector<Event> events;
  std::copy_if(events_.begin(), events_.end(), std::back_inserter(events), [this](const Event& e) {
    return e.what == static_cast<std::uint32_t>(Stage::kCapture) ||
           std::binary_search(reported_.begin(), reported_.end(), e.frame);
  });
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    if (a.duration_ns != b.duration_ns) return a.duration_ns > b.duration_ns;
    return a.what < b.what;
  });
  const auto first =
      std::min_element(events.begin(), events.end(),
                       [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  const std::int64_t origin = first == events.end() ? 0 : first->start_ns;
  for (Event& event : events) event.start_ns -= origin;
  return events;
}

std::string Trace::slice(const Event& event) const {
  const bool is_stage = event.what < kStages;
  const std::int64_t duration =
      is_stage ? std::max<std::int64_t>(0, event.duration_ns - kGapNs) : event.duration_ns;
  const std::string text =
      fmt::format(R"("pid":{},"tid":{},"ts":{},"dur":{},"args":{{"frame":{})", getpid(),
                  threads_[event.thread].id, us(event.start_ns), us(duration), event.frame);
  if (is_stage) {
    return fmt::format(R"({{"ph":"X","cat":"stage","name":"{}",{}}}}})",
                       to_string(static_cast<Stage>(event.what)), text);
  }
  const auto& [model, name] = operators_[event.what - kStages];
  return fmt::format(R"({{"ph":"X","cat":"operator","name":{},{},"model":{}}}}})", to_json(name),
                     text, to_json(model));
}

void Trace::write_json(const std::function<void(std::string_view)>& out) const {
  Parts parts(out);
  const pid_t process = getpid();
  parts.text("{\"displayTimeUnit\":\"ms\",\"otherData\":");
  parts.text(nlohmann::json(options_.about)
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  parts.text(",\"traceEvents\":[");
  parts.event(fmt::format(
      R"({{"ph":"M","name":"process_name","pid":{},"tid":{},"args":{{"name":"lookout"}}}})",
      process, process));
  for (const Thread& thread : threads_) {
    parts.event(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                    process, thread.id, to_json(thread.name)));
  }

  // Waiting is not on a thread: an asynchronous event each. The arrows go from the capture to the
  // first stage behind the double buffer, and on to the report; an arrow belongs to the event that
  // its time lies in.
  const auto arrow = [&](const char* phase, const Event& e) {
    parts.event(fmt::format(
        R"({{"ph":"{}","cat":"frame","name":"frame","id":{},"pid":{},"tid":{},"ts":{}{}}})", phase,
        e.frame, process, threads_[e.thread].id, us(e.start_ns + e.duration_ns / 2),
        *phase == 'f' ? R"(,"bp":"e")" : ""));
  };
  const std::vector<Event> events = complete_events();
  for (const Event& e : events) {
    const bool whole = std::binary_search(reported_.begin(), reported_.end(), e.frame);
    switch (static_cast<Stage>(std::min<std::uint32_t>(e.what, kStages))) {
      case Stage::kQueueWait:
        for (const auto& [phase, time] :
             {std::pair("b", e.start_ns), std::pair("e", e.start_ns + e.duration_ns)}) {
          parts.event(fmt::format(
              R"({{"ph":"{}","cat":"queue","name":"queue-wait","id2":{{"local":"{:#x}"}},)"
              R"("pid":{},"tid":{},"ts":{},"args":{{"frame":{}}}}})",
              phase, e.frame, process, process, us(time), e.frame));
        }
        break;
      case Stage::kCapture:
        parts.event(slice(e));
        if (whole) arrow("s", e);
        break;
      case Stage::kPreprocess:
        parts.event(slice(e));
        arrow("t", e);
        break;
      case Stage::kReport:
        parts.event(slice(e));
        arrow("f", e);
        break;
      default:
        parts.event(slice(e));
    }
  }
  parts.text("\n]}\n");
  parts.flush();
}

}  // namespace lookout
