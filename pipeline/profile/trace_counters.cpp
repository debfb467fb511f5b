#include "pipeline/profile/trace_counters.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace lookout {
namespace {

using Event = TraceRecording::Event;
using Step = std::pair<std::int64_t, int>;  // time, and how much the number of frames changes

void append_steps(std::vector<Step> steps, const char* name, int max,
                  std::vector<CounterChange>& changes) {
  std::sort(steps.begin(), steps.end());
  int frames = 0;
  std::optional<int> last;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    frames += steps[i].second;
    const bool more_now = i + 1 < steps.size() && steps[i + 1].first == steps[i].first;
    const int value = std::min(frames, max);
    if (more_now || value == last) continue;
    last = value;
    changes.push_back({steps[i].first, name, "frames", static_cast<double>(value)});
  }
}

// A live source's frame is dropped when the next one is captured.
std::vector<Step> drops(const TraceRecording& recording, const std::vector<Event>& events,
                        std::vector<Step>& buffer) {
  std::map<std::uint64_t, std::int64_t> captured;  // frame -> the end of its capture
  for (const Event& event : events) {
    if (event.is(Stage::kCapture)) captured[event.frame] = event.end_ns();
  }
  std::vector<Step> steps;
  const auto& reported = recording.reported;
  for (auto frame = captured.begin(); frame != captured.end(); ++frame) {
    const auto next = std::next(frame);
    const bool is_last = reported.empty() || frame->first > reported.back();
    if (is_last || next == captured.end()) break;
    if (std::binary_search(reported.begin(), reported.end(), frame->first)) continue;
    buffer.emplace_back(frame->second, 1);
    buffer.emplace_back(next->second, -1);
    steps.emplace_back(next->second, 1);
  }
  return steps;
}

void append_flow(const TraceRecording& recording, const std::vector<Event>& events,
                 std::vector<CounterChange>& changes) {
  std::vector<Step> buffer;
  std::vector<Step> workers;
  for (const Event& event : events) {
    if (event.is(Stage::kQueueWait)) {
      buffer.emplace_back(event.start_ns, 1);
      buffer.emplace_back(event.end_ns(), -1);
    }
    if (event.is(Stage::kPreprocess)) workers.emplace_back(event.start_ns, 1);
    if (event.is(Stage::kTopK)) workers.emplace_back(event.end_ns(), -1);
  }
  std::vector<Step> dropped = drops(recording, events, buffer);
  constexpr int kAny = 1 << 30;
  append_steps(std::move(buffer), "double buffer", 1, changes);
  append_steps(std::move(workers), "with workers", kAny, changes);
  if (!events.empty()) dropped.emplace_back(0, 0);  // the first value
  append_steps(std::move(dropped), "dropped", kAny, changes);
}

void append_samples(const std::vector<TraceRecording::Sample>& samples,
                    std::vector<CounterChange>& changes) {
  for (const auto& [time, machine] : samples) {
    const MachineState& state = machine.state;
    if (state.temperature) {
      changes.push_back({time, "temperature", "celsius", *state.temperature});
    }
    if (state.clock_mhz) changes.push_back({time, "clock", "MHz", *state.clock_mhz});
    if (state.throttled) {
      changes.push_back({time, "throttled", "bits", static_cast<double>(*state.throttled)});
    }
    if (machine.resident_bytes > 0) {
      const double megabytes = static_cast<double>(machine.resident_bytes) / 1e6;
      changes.push_back({time, "resident memory", "MB", megabytes});
    }
  }
}

}  // namespace

std::vector<CounterChange> counters_of(const TraceRecording& recording,
                                       const std::vector<Event>& events) {
  std::vector<CounterChange> changes;
  append_flow(recording, events, changes);
  append_samples(recording.samples, changes);
  return changes;
}

}  // namespace lookout
