#include "app/trace/trace_events.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

using ForeignJson = nlohmann::json;

// 69 years: PyTorch counts from 1970. The time from any start to any end fits into 64 bits.
constexpr double kMaxUs = 2.2e15;
constexpr std::string_view kStepName = "ProfilerStep#";

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::kBadData, problem); }

std::chrono::nanoseconds time_of(const ForeignJson& number, const char* key) {
  const auto us = number.get<double>();
  if (!(std::abs(us) <= kMaxUs)) {
    fail(std::string("has an event whose \"") + key + "\" is no time in microseconds");
  }
  return std::chrono::nanoseconds(std::llround(us * 1000));
}

std::chrono::nanoseconds time_field(const ForeignJson& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_number()) {
    fail(std::string("has an event without a number \"") + key + "\"");
  }
  return time_of(*found, key);
}

// Empty when there is no such text.
std::string text_field(const ForeignJson& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t thread_field(const ForeignJson& event) {
  const auto found = event.find("tid");
  if (found == event.end() || !found->is_number_integer()) {
    fail("has an event without an integer \"tid\"");
  }
  return found->get<std::int64_t>();
}

// Null when there is no such argument.
const ForeignJson* argument(const ForeignJson& event, const char* key) {
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object()) return nullptr;
  const auto found = arguments->find(key);
  return found == arguments->end() ? nullptr : &*found;
}

std::optional<std::uint64_t> frame_argument(const ForeignJson& event) {
  const ForeignJson* frame = argument(event, "frame");
  if (frame == nullptr || !frame->is_number_unsigned()) return std::nullopt;
  return frame->get<std::uint64_t>();
}

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// For an event of PyTorch. `is_operator`: its category says so.
SliceKind kind_in_pytorch(const std::string& name, bool is_operator) {
  if (begins_with(name, kStepName)) return SliceKind::kStep;
  return is_operator ? SliceKind::kOperator : SliceKind::kLabel;
}

struct Kind {
  SliceKind kind;
  bool by_pytorch = false;
};

// Nothing: a slice that says nothing here, such as one of Python's functions. PyTorch has called
// operators "cpu_op" since 1.12, "Operator" before. One that was built without Kineto, as Debian's
// is, has no categories.
std::optional<Kind> kind_of(const ForeignJson& event) {
  const std::string category = text_field(event, "cat");
  const std::string name = text_field(event, "name");
  if (category == "stage") return Kind{SliceKind::kStage};
  if (category == "operator") return Kind{SliceKind::kOperator};
  if (category == "label") return Kind{SliceKind::kLabel};
  if (category == "cpu_op" || category == "Operator")
    return Kind{kind_in_pytorch(name, true), true};
  if (category == "user_annotation") {
    // lookout's own steps say the same as its stages.
    if (begins_with(name, kStepName) && frame_argument(event)) return std::nullopt;
    return Kind{kind_in_pytorch(name, false), true};
  }
  if (category.empty() && text_field(event, "pid") == "CPU functions") {
    return Kind{kind_in_pytorch(name, name.find("::") != std::string::npos), true};
  }
  if (category.empty()) return Kind{SliceKind::kOther};
  return std::nullopt;
}

std::uint64_t step_number(const std::string& name) {
  const char* digits = name.c_str() + kStepName.size();
  return std::strtoull(digits, nullptr, 10);
}

void read_use(const ForeignJson& event, TraceSlice& slice) {
  if (const ForeignJson* cpu = argument(event, "cpu_us"); cpu != nullptr && cpu->is_number()) {
    slice.cpu = std::clamp<Clock::duration>(time_of(*cpu, "cpu_us"), {}, slice.duration);
  }
  if (const ForeignJson* writer = argument(event, "writer_us");
      writer != nullptr && writer->is_number()) {
    slice.writer =
        std::clamp<Clock::duration>(time_of(*writer, "writer_us"), {},
                                    slice.duration - slice.cpu.value_or(Clock::duration::zero()));
  }
}

void read_operator(const ForeignJson& event, TraceSlice& slice) {
  if (const ForeignJson* layer = argument(event, "layer"); layer != nullptr && layer->is_string()) {
    slice.layer = layer->get<std::string>();
  }
  const ForeignJson* bytes = argument(event, "bytes");
  constexpr std::int64_t kMost = std::int64_t{1} << 48;  // so that a sum of them fits
  if (bytes != nullptr && bytes->is_number_integer()) {
    slice.bytes = std::clamp<std::int64_t>(bytes->get<std::int64_t>(), 0, kMost);
  }
}

TraceSlice read_slice(const ForeignJson& event, SliceKind kind) {
  TraceSlice slice;
  slice.thread = thread_field(event);
  slice.name = text_field(event, "name");
  slice.kind = kind;
  slice.frame = kind == SliceKind::kStep ? step_number(slice.name) : frame_argument(event);
  slice.start = time_field(event, "ts");
  slice.duration = time_field(event, "dur");
  if (slice.duration.count() < 0) fail("has an event of negative duration");
  if (kind == SliceKind::kStage) read_use(event, slice);
  if (kind == SliceKind::kOperator) read_operator(event, slice);
  return slice;
}

// Each number among the arguments is a counter; those of lookout have one.
void read_counter(const ForeignJson& event, TraceEvents& events) {
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object()) return;
  for (const auto& [unit, value] : arguments->items()) {
    if (!value.is_number()) continue;
    const auto number = value.get<double>();
    if (!std::isfinite(number) || std::abs(number) > kMaxUs) {
      fail("has a counter that is no sensible number");
    }
    TraceCounter& counter = events.counters[text_field(event, "name")];
    counter.unit = unit;
    counter.values.emplace_back(time_field(event, "ts"), number);
  }
}

void read_thread_name(const ForeignJson& event, TraceEvents& events) {
  const ForeignJson* name = argument(event, "name");
  if (name == nullptr || !name->is_string()) return;
  events.threads[thread_field(event)] = name->get<std::string>();
}

void read_wait(const ForeignJson& event, std::optional<TraceTime> TraceWait::*end,
               TraceEvents& events) {
  const auto frame = frame_argument(event);
  if (!frame) fail("has a wait in the queue without a \"frame\"");
  events.waits[*frame].*end = time_field(event, "ts");
}

// Events that the summary does not need are skipped.
void read_event(const ForeignJson& event, TraceEvents& events) {
  const std::string phase = text_field(event, "ph");
  if (phase.empty()) fail("has an event without \"ph\"");
  const bool in_queue = text_field(event, "cat") == "queue";
  if (phase == "X") {
    const std::optional<Kind> kind = kind_of(event);
    if (!kind) return;
    events.by_pytorch = events.by_pytorch || kind->by_pytorch;
    events.slices.push_back(read_slice(event, kind->kind));
  } else if (phase == "C") {
    read_counter(event, events);
  } else if (phase == "M" && text_field(event, "name") == "thread_name") {
    read_thread_name(event, events);
  } else if (phase == "b" && in_queue) {
    read_wait(event, &TraceWait::start, events);
  } else if (phase == "e" && in_queue) {
    read_wait(event, &TraceWait::end, events);
  }
}

void read_about(const ForeignJson& root, TraceEvents& events) {
  const auto about = root.find("otherData");
  if (about == root.end() || !about->is_object()) return;
  for (const auto& [key, value] : about->items()) {
    if (value.is_string()) events.about[key] = value.get<std::string>();
  }
}

// Called by the parser. Takes each element of the array "traceEvents", or of the array that is the
// whole file, as soon as it is complete, and leaves it out of the parsed JSON.
class EventReader {
 public:
  explicit EventReader(TraceEvents& events) : events_(events) {}

  bool keep(int depth, ForeignJson::parse_event_t event, const ForeignJson& parsed) {
    if (event == ForeignJson::parse_event_t::array_start && depth == 0) {
      in_events_ = true;
      depth_ = 1;
    }
    if (event == ForeignJson::parse_event_t::key && depth == 1 && depth_ == 2) {
      in_events_ = parsed == "traceEvents";
      found_ = found_ || in_events_;
    }
    if (!in_events_ || depth != depth_ || event != ForeignJson::parse_event_t::object_end)
      return true;
    read_event(parsed, events_);
    found_ = true;
    return false;
  }

  bool found() const { return found_; }

 private:
  TraceEvents& events_;
  int depth_ = 2;  // of events
  bool in_events_ = false;
  bool found_ = false;
};

}  // namespace

TraceEvents read_trace_events(std::istream& json) {
  TraceEvents events;
  EventReader reader(events);
  constexpr char kGzip = '\x1f';  // RFC 1952, 2.3.1
  const auto first = json.rdbuf()->sgetc();
  if (first == std::istream::traits_type::eof()) fail("is empty: record it again");
  if (first == kGzip) fail("is compressed: unpack it first, as with gunzip");
  const ForeignJson root = ForeignJson::parse(
      json,
      [&reader](int depth, ForeignJson::parse_event_t event, const ForeignJson& parsed) {
        return reader.keep(depth, event, parsed);
      },
      /*allow_exceptions=*/false);
  if (root.is_discarded())
    fail(reader.found() ? "is cut or damaged: record it again" : "is not JSON");
  const bool is_list = root.is_array() && reader.found();
  if (!is_list &&
      (!root.is_object() || !root.contains("traceEvents") || !root.at("traceEvents").is_array())) {
    fail("is not a trace: it has no \"traceEvents\"");
  }
  if (root.is_object()) read_about(root, events);
  return events;
}

}  // namespace lookout
