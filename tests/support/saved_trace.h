// Traces that are recorded by hand and kept in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/profile/trace.h"

namespace lookout {

// Where a trace is saved.
struct Saved {
  std::string text;
  int times = 0;

  Trace::Save save() {
    return [this](const Trace& trace) {
      ++times;
      trace.write_json([this](std::string_view part) { text += part; });
    };
  }
  // Without the steps.
  std::vector<nlohmann::json> events(const std::string& phase) const {
    return events_where(
        [&phase](const nlohmann::json& event) { return event["ph"] == phase && !is_step(event); });
  }
  std::vector<nlohmann::json> steps() const { return events_where(is_step); }

 private:
  static bool is_step(const nlohmann::json& event) {
    return event.value("cat", "") == "user_annotation";
  }

  template <typename Wanted>
  std::vector<nlohmann::json> events_where(const Wanted& wanted) const {
    std::vector<nlohmann::json> found;
    const nlohmann::json root = nlohmann::json::parse(text);
    for (const nlohmann::json& event : root["traceEvents"]) {
      if (wanted(event)) found.push_back(event);
    }
    return found;
  }
};

inline TraceOptions frames_of(std::uint64_t frames, std::uint64_t skip = 0) {
  TraceOptions options;
  options.frames = frames;
  options.skip = skip;
  return options;
}

// The stages of one frame that is not compared, each 10 us after the one before, on this thread.
inline void record_frame(Trace& trace, std::uint64_t frame) {
  auto time = Clock::time_point(std::chrono::microseconds(1000 * (frame + 1)));
  for (int stage = 0; stage < kStages; ++stage) {
    if (static_cast<Stage>(stage) == Stage::kCompare) continue;
    trace.record(static_cast<Stage>(stage), frame, time, time + std::chrono::microseconds(10));
    time += std::chrono::microseconds(10);
  }
}

}  // namespace lookout
