#include "app/trace/trace_events.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

using ForeignJson = nlohmann::json;

// 69 years: PyTorch counts from 1970. The time from any start to any end fits into 64 bits.
constexpr double kMaxUs = 2.2e15;
constexpr std::string_view kStepName = "ProfilerStep#";

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::kBadData, problem); }

std::chrono::nanoseconds time_of(const ForeignJson& number, const std::string& key) {
  const auto us = number.get<double>();
  if (!(std::abs(us) <= kMaxUs)) {
    fail("has an event whose \"" + key + "\" is no time in microseconds");
  }
  return std::chrono::nanoseconds(std::llround(us * 1000));
}

std::chrono::nanoseconds time_field(const ForeignJson& event, const std::string& key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_number()) {
    fail("has an event without a number \"" + key + "\"");
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

// An empty object when there are none.
const ForeignJson& arguments(const ForeignJson& event) {
  static const ForeignJson none = ForeignJson::object();
  const auto found = event.find("args");
  return found != event.end() && found->is_object() ? *found : none;
}

std::optional<std::uint64_t> frame_argument(const ForeignJson& event) {
  const ForeignJson& all = arguments(event);
  const auto frame = all.find("frame");
  if (frame == all.end() || !frame->is_number_unsigned()) return std::nullopt;
  return frame->get<std::uint64_t>();
}

bool is_step(std::string_view name) { return name.substr(0, kStepName.size()) == kStepName; }

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
  static const std::map<std::string, SliceKind> our_kinds{{"stage", SliceKind::kStage},
                                                          {"operator", SliceKind::kOperator},
                                                          {"label", SliceKind::kLabel}};
  if (const auto ours = our_kinds.find(category); ours != our_kinds.end())
    return Kind{ours->second};
  const bool is_plain = category.empty() && text_field(event, "pid") == "CPU functions";
  if (category == "cpu_op" || category == "Operator" || category == "user_annotation" || is_plain) {
    // lookout's own steps say the same as its stages.
    if (category == "user_annotation" && is_step(name) && frame_argument(event)) {
      return std::nullopt;
    }
    if (is_step(name)) return Kind{SliceKind::kStep, true};
    const bool is_operator =
        is_plain ? name.find("::") != std::string::npos : category != "user_annotation";
    return Kind{is_operator ? SliceKind::kOperator : SliceKind::kLabel, true};
  }
  if (category.empty()) return Kind{SliceKind::kOther};
  return std::nullopt;
}

TraceSlice read_slice(const ForeignJson& event, SliceKind kind) {
  TraceSlice slice;
  slice.thread = thread_field(event);
  slice.name = text_field(event, "name");
  slice.kind = kind;
  slice.frame = kind == SliceKind::kStep
                    ? std::strtoull(slice.name.c_str() + kStepName.size(), nullptr, 10)
                    : frame_argument(event);
  slice.start = time_field(event, "ts");
  slice.duration = time_field(event, "dur");
  if (slice.duration.count() < 0) fail("has an event of negative duration");
  const ForeignJson& all = arguments(event);
  if (kind == SliceKind::kStage) {
    // Up to so much of it.
    const auto time_argument = [&all](const char* key, Clock::duration most) {
      const auto found = all.find(key);
      const bool is_known = found != all.end() && found->is_number();
      return is_known ? std::optional(std::clamp<Clock::duration>(time_of(*found, key), {}, most))
                      : std::nullopt;
    };
    slice.cpu = time_argument("cpu_us", slice.duration);
    const Clock::duration rest = slice.duration - slice.cpu.value_or(Clock::duration::zero());
    slice.writer = time_argument("writer_us", rest).value_or(Clock::duration::zero());
  } else if (kind == SliceKind::kOperator) {
    constexpr std::int64_t kMaxBytes = std::int64_t{1} << 48;  // so that a sum of them fits
    slice.layer = text_field(all, "layer");
    const auto bytes = all.find("bytes");
    if (bytes != all.end() && bytes->is_number_integer()) {
      slice.bytes = std::clamp<std::int64_t>(bytes->get<std::int64_t>(), 0, kMaxBytes);
    }
  }
  return slice;
}

// Each number among the arguments is a counter; those of lookout have one.
void read_counter(const ForeignJson& event, TraceEvents& events) {
  for (const auto& [unit, value] : arguments(event).items()) {
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

// Events that the summary does not need are skipped.
void read_event(const ForeignJson& event, TraceEvents& events) {
  const std::string phase = text_field(event, "ph");
  if (phase.empty()) fail("has an event without \"ph\"");
  if (phase == "X") {
    const std::optional<Kind> kind = kind_of(event);
    if (!kind) return;
    events.by_pytorch = events.by_pytorch || kind->by_pytorch;
    events.slices.push_back(read_slice(event, kind->kind));
  } else if (phase == "C") {
    read_counter(event, events);
  } else if (phase == "M" && text_field(event, "name") == "thread_name") {
    const ForeignJson& all = arguments(event);
    const auto name = all.find("name");
    if (name == all.end() || !name->is_string()) return;
    events.threads[thread_field(event)] = name->get<std::string>();
  } else if ((phase == "b" || phase == "e") && text_field(event, "cat") == "queue") {
    const auto frame = frame_argument(event);
    if (!frame) fail("has a wait in the queue without a \"frame\"");
    TraceWait& wait = events.waits[*frame];
    (phase == "b" ? wait.start : wait.end) = time_field(event, "ts");
  }
}

void check_first_byte(std::istream& json) {
  constexpr char kGzip = '\x1f';  // RFC 1952, 2.3.1
  const auto first = json.rdbuf()->sgetc();
  if (first == std::istream::traits_type::eof()) fail("is empty: record it again");
  if (first == kGzip) fail("is compressed: unpack it first, as with gunzip");
}

bool has_array(const ForeignJson& root, const char* key) {
  const auto found = root.find(key);
  return found != root.end() && found->is_array();
}

void read_about(const ForeignJson& root, TraceEvents& events) {
  const auto about = root.find("otherData");
  if (about == root.end() || !about->is_object()) return;
  for (const auto& [key, value] : about->items()) {
    if (value.is_string()) events.about[key] = value.get<std::string>();
  }
}

}  // namespace

TraceEvents read_trace_events(std::istream& json) {
  check_first_byte(json);
  TraceEvents events;
  int event_depth = 2;
  bool in_events = false;
  bool found = false;
  // Takes each element of the array "traceEvents", or of the array that is the whole file, as soon
  // as it is complete, and leaves it out of the parsed JSON.
  const auto keep = [&](int depth, ForeignJson::parse_event_t event, const ForeignJson& parsed) {
    if (event == ForeignJson::parse_event_t::array_start && depth == 0) {
      in_events = true;
      event_depth = 1;
    }
    if (event == ForeignJson::parse_event_t::key && depth == 1 && event_depth == 2) {
      in_events = parsed == "traceEvents";
      found = found || in_events;
    }
    const bool is_event =
        in_events && depth == event_depth && event == ForeignJson::parse_event_t::object_end;
    if (!is_event) return true;
    read_event(parsed, events);
    found = true;
    return false;
  };
  const ForeignJson root = ForeignJson::parse(json, keep, /*allow_exceptions=*/false);
  if (root.is_discarded()) fail(found ? "is cut or damaged: record it again" : "is not JSON");
  const bool is_trace = root.is_array() ? found : has_array(root, "traceEvents");
  if (!is_trace) fail("is not a trace: it has no \"traceEvents\"");
  if (root.is_object()) read_about(root, events);
  return events;
}

}  // namespace lookout
