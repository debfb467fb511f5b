#include "pipeline/profile/trace_recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/profile/trace_counters.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kPart = 64 << 10;  // bytes that are written at a time
// Viewers compute with microseconds as floating-point numbers and may be a nanosecond off. The gap
// keeps a stage from overlapping the next one, which begins when it ends.
constexpr std::int64_t kGapNs = 2;

using Event = TraceRecording::Event;

// The format's unit, microseconds, with all nanoseconds, so that nested events stay nested.
std::string us(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

class TraceWriter {
 public:
  TraceWriter(const TraceRecording& recording, const std::function<void(std::string_view)>& out)
      : recording_(recording), out_(out), process_(getpid()) {}

  void write(const std::map<std::string, std::string>& about) {
    for (const auto& what : recording_.operators) operators_.push_back(text_of(what));
    part_ += "{\"displayTimeUnit\":\"ms\",\"otherData\":{";
    const char* separator = "";
    for (const auto& [name, value] : about) {
      append_format(part_, "{}{}:{}", separator, to_json(name), to_json(value));
      separator = ",";
    }
    part_ += "},\"traceEvents\":[";
    element(R"({{"ph":"M","name":"process_name","pid":{},"tid":{},"args":{{"name":"lookout"}}}})",
            process_, process_);
    for (const TraceRecording::Thread& thread : recording_.threads) {
      element(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
              process_, thread.id, to_json(thread.name));
    }
    const std::vector<Event> events = complete_events();
    for (const Event& event : events) write(event);
    write_steps(events);
    write_counters(events);
    part_ += "\n]}\n";
    flush();
  }

 private:
  // The parts of an operator's events that are the same for all its calls: before and behind those
  // of the call. There are thousands of calls.
  struct OperatorText {
    std::string begin;
    std::string end;
  };

  static OperatorText text_of(const TraceRecording::Operator& what) {
    OperatorText text;
    text.begin = fmt::format(R"({{"ph":"X","cat":"{}","name":{},)",
                             what.is_label ? "label" : "operator", to_json(what.name));
    text.end = ",\"model\":" + to_json(what.model);
    if (!what.layer.empty()) text.end += ",\"layer\":" + to_json(what.layer);
    return text;
  }

  // Appends the text of an element of the JSON array, or its beginning.
  template <typename... Arguments>
  void element(fmt::format_string<Arguments...> format, const Arguments&... arguments) {
    if (part_.size() >= kPart) flush();
    part_ += first_ ? "\n" : ",\n";
    first_ = false;
    append_format(part_, format, arguments...);
  }

  void flush() {
    out_(part_);
    part_.clear();
  }

  bool is_reported(std::uint64_t frame) const {
    return std::binary_search(recording_.reported.begin(), recording_.reported.end(), frame);
  }

  pid_t thread_id(const Event& event) const { return recording_.threads[event.thread].id; }

  // The events of reported frames, and all captures. Outer events come before those within them;
  // times are relative to the first event.
  std::vector<Event> complete_events() {
    std::vector<Event> events;
    std::copy_if(recording_.events.begin(), recording_.events.end(), std::back_inserter(events),
                 [this](const Event& event) {
                   return event.is(Stage::kCapture) || is_reported(event.frame);
                 });
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tie(a.thread, a.start_ns, b.duration_ns, a.what) <
             std::tie(b.thread, b.start_ns, a.duration_ns, b.what);
    });
    const auto first =
        std::min_element(events.begin(), events.end(),
                         [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    origin_ns_ = first == events.end() ? 0 : first->start_ns;
    for (Event& event : events) event.start_ns -= origin_ns_;
    return events;
  }

  // Writes the samples between the first event and the last.
  void write_counters(const std::vector<Event>& events) {
    TraceRecording relative;
    relative.reported = recording_.reported;
    for (TraceRecording::Sample sample : recording_.samples) {
      sample.time_ns -= origin_ns_;
      if (sample.time_ns >= 0) relative.samples.push_back(sample);
    }
    for (const CounterChange& change : counters_of(relative, events)) {
      element(R"({{"ph":"C","name":"{}","pid":{},"tid":{},"ts":{},"args":{{"{}":{:.10g}}}}})",
              change.name, process_, process_, us(change.time_ns), change.unit, change.value);
    }
  }

  // A frame as a step of PyTorch's profiler, by which its plug-in for TensorBoard and others divide
  // the time: from the first stage to the last on the thread that classified it.
  void write_steps(const std::vector<Event>& events) {
    const std::map<std::uint64_t, std::uint32_t> threads = inference_threads(events);
    std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> steps;  // start and end
    for (const Event& event : events) {
      const bool is_in_step =
          event.what < kStages && event.what > static_cast<std::uint32_t>(Stage::kQueueWait);
      const auto thread = threads.find(event.frame);
      if (!is_in_step || thread == threads.end() || thread->second != event.thread) continue;
      const std::int64_t end = event.end_ns();
      const auto [step, is_new] = steps.try_emplace(event.frame, event.start_ns, end);
      step->second.first = std::min(step->second.first, event.start_ns);
      step->second.second = std::max(step->second.second, end);
    }
    for (const auto& [frame, step] : steps) {
      element(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":{},"tid":{},)"
              R"("ts":{},"dur":{},"args":{{"frame":{}}}}})",
              frame, process_, recording_.threads[threads.at(frame)].id, us(step.first),
              us(std::max<std::int64_t>(0, step.second - step.first - kGapNs)), frame);
    }
  }

  // Arrows lead from the capture to the first stage behind the double buffer, and on to the report.
  void write(const Event& event) {
    if (event.what >= kStages) {
      write_operator(event, operators_[event.what - kStages]);
      return;
    }
    if (event.is(Stage::kQueueWait)) {
      write_wait(event);
      return;
    }
    write_stage(event);
    if (event.is(Stage::kCapture) && is_reported(event.frame)) write_arrow("s", event);
    if (event.is(Stage::kPreprocess)) write_arrow("t", event);
    if (event.is(Stage::kReport)) write_arrow("f", event);
  }

  void write_stage(const Event& event) {
    element(R"({{"ph":"X","cat":"stage","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},)"
            R"("args":{{"frame":{})",
            to_text(static_cast<Stage>(event.what)), process_, thread_id(event), us(event.start_ns),
            us(std::max<std::int64_t>(0, event.duration_ns - kGapNs)), event.frame);
    if (event.cpu_ns >= 0) {
      part_ += R"(,"cpu_us":)" + us(event.cpu_ns);
      if (event.writer_ns > 0) part_ += R"(,"writer_us":)" + us(event.writer_ns);
    }
    part_ += "}}";
  }

  // Most events are of this kind: they are formatted where they are kept.
  void write_operator(const Event& event, const OperatorText& text) {
    element("{}", text.begin);
    append_format(part_, R"("pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},"args":{{"frame":{})",
                  process_, thread_id(event), event.start_ns / 1000, event.start_ns % 1000,
                  event.duration_ns / 1000, event.duration_ns % 1000, event.frame);
    part_ += text.end;
    if (event.bytes > 0) append_format(part_, ",\"bytes\":{}", event.bytes);
    part_ += "}}";
  }

  // Waiting happens on no thread: it becomes an asynchronous event.
  void write_wait(const Event& event) {
    for (const auto& [phase, time] :
         {std::pair("b", event.start_ns), std::pair("e", event.end_ns())}) {
      element(R"({{"ph":"{}","cat":"queue","name":"{}","id2":{{"local":"{:#x}"}},"pid":{},)"
              R"("tid":{},"ts":{},"args":{{"frame":{}}}}})",
              phase, to_text(Stage::kQueueWait), event.frame, process_, process_, us(time),
              event.frame);
    }
  }

  // An arrow belongs to the event that its time lies in.
  void write_arrow(const char* phase, const Event& event) {
    element(R"({{"ph":"{}","cat":"frame","name":"frame","id":{},"pid":{},"tid":{},"ts":{}{}}})",
            phase, event.frame, process_, thread_id(event),
            us(event.start_ns + event.duration_ns / 2), *phase == 'f' ? R"(,"bp":"e")" : "");
  }

  const TraceRecording& recording_;
  const std::function<void(std::string_view)>& out_;
  const pid_t process_;
  std::int64_t origin_ns_ = 0;  // of the file's times
  std::vector<OperatorText> operators_;
  std::string part_;  // gathered until it is large enough to be written
  bool first_ = true;
};

}  // namespace

std::map<std::uint64_t, std::uint32_t> inference_threads(const std::vector<Event>& events) {
  std::map<std::uint64_t, std::uint32_t> threads;
  for (const Event& event : events) {
    if (event.is(Stage::kInference)) threads[event.frame] = event.thread;
  }
  return threads;
}

void write_trace(const TraceRecording& recording, const std::map<std::string, std::string>& about,
                 const std::function<void(std::string_view)>& out) {
  TraceWriter(recording, out).write(about);
}

}  // namespace lookout
