#include "app/inspect/trace_events.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/error.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr double kMaxUs = 1e15;  // 31 years: the sum of a start and a duration fits into 64 bits

[[noreturn]] void fail(const std::string& problem) { throw Error(ErrorKind::kBadData, problem); }

std::chrono::nanoseconds time_field(const Json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_number()) {
    fail(std::string("has an event without a number \"") + key + "\"");
  }
  const auto us = found->get<double>();
  if (!(std::abs(us) <= kMaxUs)) {
    fail(std::string("has an event whose \"") + key + "\" is no time in microseconds");
  }
  return std::chrono::nanoseconds(std::llround(us * 1000));
}

// Empty when there is no such text.
std::string text_field(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t thread_field(const Json& event) {
  const auto found = event.find("tid");
  if (found == event.end() || !found->is_number_integer()) {
    fail("has an event without an integer \"tid\"");
  }
  return found->get<std::int64_t>();
}

// Null when there is no such argument.
const Json* argument(const Json& event, const char* key) {
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object()) return nullptr;
  const auto found = arguments->find(key);
  return found == arguments->end() ? nullptr : &*found;
}

std::optional<std::uint64_t> frame_argument(const Json& event) {
  const Json* frame = argument(event, "frame");
  if (frame == nullptr || !frame->is_number_unsigned()) return std::nullopt;
  return frame->get<std::uint64_t>();
}

TraceSlice read_slice(const Json& event) {
  TraceSlice slice;
  slice.thread = thread_field(event);
  slice.name = text_field(event, "name");
  slice.category = text_field(event, "cat");
  slice.frame = frame_argument(event);
  slice.start = time_field(event, "ts");
  slice.duration = time_field(event, "dur");
  if (slice.duration.count() < 0) fail("has an event of negative duration");
  return slice;
}

void read_thread_name(const Json& event, TraceEvents& events) {
  const Json* name = argument(event, "name");
  if (name == nullptr || !name->is_string()) return;
  events.threads[thread_field(event)] = name->get<std::string>();
}

void read_wait(const Json& event, std::optional<TraceTime> TraceWait::*end, TraceEvents& events) {
  const auto frame = frame_argument(event);
  if (!frame) fail("has a wait in the queue without a \"frame\"");
  events.waits[*frame].*end = time_field(event, "ts");
}

// Events that the summary does not need are skipped.
void read_event(const Json& event, TraceEvents& events) {
  const std::string phase = text_field(event, "ph");
  if (phase.empty()) fail("has an event without \"ph\"");
  const bool in_queue = text_field(event, "cat") == "queue";
  if (phase == "X") {
    events.slices.push_back(read_slice(event));
  } else if (phase == "M" && text_field(event, "name") == "thread_name") {
    read_thread_name(event, events);
  } else if (phase == "b" && in_queue) {
    read_wait(event, &TraceWait::start, events);
  } else if (phase == "e" && in_queue) {
    read_wait(event, &TraceWait::end, events);
  }
}

void read_about(const Json& root, TraceEvents& events) {
  const auto about = root.find("otherData");
  if (about == root.end() || !about->is_object()) return;
  for (const auto& [key, value] : about->items()) {
    if (value.is_string()) events.about[key] = value.get<std::string>();
  }
}

// Called by the parser. Takes each element of the array "traceEvents" as soon as it is complete,
// and leaves it out of the parsed JSON.
class EventReader {
 public:
  explicit EventReader(TraceEvents& events) : events_(events) {}

  bool keep(int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) {
      in_events_ = parsed == "traceEvents";
      found_ = found_ || in_events_;
    }
    if (!in_events_ || depth != 2 || event != Json::parse_event_t::object_end) return true;
    read_event(parsed, events_);
    return false;
  }

  bool found() const { return found_; }

 private:
  TraceEvents& events_;
  bool in_events_ = false;
  bool found_ = false;
};

}  // namespace

TraceEvents read_trace_events(std::istream& json) {
  TraceEvents events;
  EventReader reader(events);
  const Json root = Json::parse(
      json,
      [&reader](int depth, Json::parse_event_t event, const Json& parsed) {
        return reader.keep(depth, event, parsed);
      },
      /*allow_exceptions=*/false);
  if (root.is_discarded()) fail("is not JSON");
  const auto array = root.find("traceEvents");
  if (!root.is_object() || !reader.found() || array == root.end() || !array->is_array()) {
    fail("is not a trace: it has no \"traceEvents\"");
  }
  read_about(root, events);
  return events;
}

}  // namespace lookout
