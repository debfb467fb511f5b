#include "app/inspect/trace_events.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/error.h"

namespace lookout {
namespace {

using Json = nlohmann::json;

constexpr double kLongestUs = 1e15;  // 31 years: sums of nanoseconds stay integers

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::kBadData, what); }

std::int64_t time_field(const Json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_number()) {
    fail(std::string("has an event without a number \"") + key + "\"");
  }
  const auto time = found->get<double>();
  if (!(std::abs(time) <= kLongestUs)) {
    fail(std::string("has an event whose \"") + key + "\" is no time in microseconds");
  }
  return std::llround(time * 1000);
}

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

const Json* argument(const Json& event, const char* key) {
  const auto arguments = event.find("args");
  if (arguments == event.end() || !arguments->is_object()) return nullptr;
  const auto found = arguments->find(key);
  return found == arguments->end() ? nullptr : &*found;
}

std::optional<std::uint64_t> frame_of(const Json& event) {
  const Json* frame = argument(event, "frame");
  if (frame == nullptr || !frame->is_number_unsigned()) return std::nullopt;
  return frame->get<std::uint64_t>();
}

void read_event(const Json& event, TraceEvents& events) {
  const std::string phase = text_field(event, "ph");
  if (phase.empty()) fail("has an event without \"ph\"");
  const std::string name = text_field(event, "name");
  if (phase == "X") {
    TraceSlice slice;
    slice.thread = thread_field(event);
    slice.name = name;
    slice.category = text_field(event, "cat");
    slice.frame = frame_of(event);
    slice.start = time_field(event, "ts");
    slice.duration = time_field(event, "dur");
    if (slice.duration < 0) fail("has an event of negative duration");
    events.slices.push_back(std::move(slice));
  } else if (phase == "M" && name == "thread_name") {
    const Json* thread_name = argument(event, "name");
    if (thread_name != nullptr && thread_name->is_string()) {
      events.threads[thread_field(event)] = thread_name->get<std::string>();
    }
  } else if ((phase == "b" || phase == "e") && text_field(event, "cat") == "queue") {
    const auto frame = frame_of(event);
    if (!frame) fail("has a wait in the queue without a \"frame\"");
    TraceWait& wait = events.waits[*frame];
    (phase == "b" ? wait.start : wait.end) = time_field(event, "ts");
  }
}

}  // namespace

TraceEvents read_trace_events(std::istream& json) {
  TraceEvents events;
  bool here = false;
  bool seen = false;
  const auto take = [&](int depth, Json::parse_event_t what, Json& parsed) {
    if (what == Json::parse_event_t::key && depth == 1) {
      here = parsed == "traceEvents";
      seen = seen || here;
    }
    if (!here || depth != 2 || what != Json::parse_event_t::object_end) return true;
    read_event(parsed, events);
    return false;
  };
  const Json root = Json::parse(json, take, /*allow_exceptions=*/false);
  if (root.is_discarded()) fail("is not JSON");
  const auto array = root.find("traceEvents");
  if (!root.is_object() || !seen || array == root.end() || !array->is_array()) {
    fail("is not a trace: it has no \"traceEvents\"");
  }
  if (root.contains("otherData") && root["otherData"].is_object()) {
    for (const auto& [key, value] : root["otherData"].items()) {
      if (value.is_string()) events.about[key] = value.get<std::string>();
    }
  }
  return events;
}

}  // namespace lookout
