#include "app/inspect/trace_summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/inspect/trace_events.h"
#include "pipeline/profile/stage.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxParts = 3;  // operators of a slow frame
constexpr Clock::duration kZero{};

// The sum of the times in a damaged file may be larger than the type can hold.
void add(Clock::duration more, Clock::duration& sum) {
  sum = sum > Clock::duration::max() - more ? Clock::duration::max() : sum + more;
}

// Sorts slices by thread and start, outer ones first, and sets the self time of each. Returns the
// time of each thread in which any of its slices was open.
std::map<std::int64_t, Clock::duration> find_self_times(std::vector<TraceSlice>& slices) {
  std::sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start != b.start) return a.start < b.start;
    return a.duration > b.duration;
  });
  std::map<std::int64_t, Clock::duration> busy;
  std::vector<TraceSlice*> open;
  TraceTime counted{};  // until then the thread's time is in `busy`
  for (TraceSlice& slice : slices) {
    if (!open.empty() && open.front()->thread != slice.thread) open.clear();
    while (!open.empty() && open.back()->end() <= slice.start) open.pop_back();
    slice.self = slice.duration;
    if (!open.empty()) open.back()->self = std::max(kZero, open.back()->self - slice.duration);
    const auto [entry, first] = busy.try_emplace(slice.thread, kZero);
    if (first) counted = slice.start;
    entry->second += std::max(kZero, slice.end() - std::max(counted, slice.start));
    counted = std::max(counted, slice.end());
    open.push_back(&slice);
  }
  return busy;
}

// Counted from 1, the first of `count` sorted values that at least the given share does not exceed.
std::size_t rank_of(std::size_t count, double share) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(count))));
}

// Nearest rank, of at least one value.
Percentiles percentiles(std::vector<Clock::duration> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&values](double share) { return values[rank_of(values.size(), share) - 1]; };
  return {at(0.50), at(0.95), at(0.99), values.back()};
}

using Times = std::map<std::string, Clock::duration>;  // by the name of a stage or an operator

struct FrameTimes {
  TraceTime start{};
  TraceTime end{};
  bool captured = false;
  bool reported = false;
  Times stages;
  Times operators;  // self times
  Clock::duration total() const { return end - start; }
};

using Frames = std::map<std::uint64_t, FrameTimes>;  // by number

void add_slice(const TraceSlice& slice, Frames& frames) {
  if (!slice.frame) return;
  FrameTimes& frame = frames[*slice.frame];
  if (slice.category == "operator") add(slice.self, frame.operators[slice.name]);
  if (slice.category != "stage") return;
  add(slice.duration, frame.stages[slice.name]);
  if (slice.name == to_text(Stage::kCapture)) {
    frame.captured = true;
    frame.start = slice.start;
  } else if (slice.name == to_text(Stage::kReport)) {
    frame.reported = true;
    frame.end = slice.end();
  }
}

// The complete frames.
Frames find_frames(const TraceEvents& events) {
  Frames frames;
  for (const TraceSlice& slice : events.slices) add_slice(slice, frames);
  for (const auto& [number, wait] : events.waits) {
    if (!wait.start || !wait.end || *wait.end < *wait.start) continue;
    frames[number].stages[to_text(Stage::kQueueWait)] = *wait.end - *wait.start;
  }
  for (auto frame = frames.begin(); frame != frames.end();) {
    FrameTimes& times = frame->second;
    if (!times.captured || !times.reported) {
      frame = frames.erase(frame);
      continue;
    }
    times.stages[TraceSummary::kTotal] = times.total();
    ++frame;
  }
  return frames;
}

using Values = std::map<std::string, std::vector<Clock::duration>>;

// One value for each frame and name; zero for a frame in which the name does not occur.
Values gather(const Frames& frames, Times FrameTimes::*part) {
  Values values;
  for (const auto& [number, times] : frames) {
    for (const auto& [name, time] : times.*part) values[name].push_back(time);
  }
  for (auto& [name, of_frames] : values) of_frames.resize(frames.size());
  return values;
}

Times medians(const Values& values) {
  Times result;
  for (const auto& [name, of_frames] : values) result[name] = percentiles(of_frames).p50;
  return result;
}

std::vector<TraceSummary::Part> find_parts(const Times& times, const Times& medians) {
  std::vector<TraceSummary::Part> parts;
  for (const auto& [name, time] : times) {
    if (name != TraceSummary::kTotal) parts.push_back({name, time, time - medians.at(name)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.above_median > b.above_median; });
  return parts;
}

// The frames at or above the 99th percentile of the total, of at least one frame.
std::vector<TraceSummary::Frame> find_slowest(const Frames& frames) {
  const Times stage_medians = medians(gather(frames, &FrameTimes::stages));
  const Times operator_medians = medians(gather(frames, &FrameTimes::operators));
  std::vector<TraceSummary::Frame> slowest;
  slowest.reserve(frames.size());
  for (const auto& [number, times] : frames) slowest.push_back({number, times.total(), {}, {}});
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  slowest.resize(frames.size() - rank_of(frames.size(), 0.99) + 1);
  for (TraceSummary::Frame& frame : slowest) {
    const FrameTimes& times = frames.at(frame.number);
    frame.stages = find_parts(times.stages, stage_medians);
    frame.operators = find_parts(times.operators, operator_medians);
    if (frame.operators.size() > kMaxParts) frame.operators.resize(kMaxParts);
  }
  return slowest;
}

void add_call(const TraceSlice& slice, OperatorRow& row) {
  row.name = slice.name;
  ++row.sampled;
  row.calls = static_cast<double>(row.sampled);
  add(slice.duration, row.total);
  add(slice.self, row.self);
  if (slice.duration <= row.max) return;
  row.max = slice.duration;
  row.max_frame = slice.frame.value_or(0);
}

OperatorTable find_operators(const std::vector<TraceSlice>& slices, std::uint64_t frames) {
  std::map<std::string, OperatorRow> by_name;
  Clock::duration all{};
  for (const TraceSlice& slice : slices) {
    if (slice.category != "operator") continue;
    add_call(slice, by_name[slice.name]);
    add(slice.self, all);
  }
  OperatorTable table;
  table.probability = 1;
  table.frames = frames;
  for (auto& [name, row] : by_name) {
    if (all.count() > 0) {
      row.share = static_cast<double>(row.self.count()) / static_cast<double>(all.count());
    }
    table.rows.push_back(std::move(row));
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return a.self > b.self; });
  return table;
}

Clock::duration whole_duration(const std::vector<TraceSlice>& slices) {
  if (slices.empty()) return {};
  TraceTime first = slices.front().start;
  TraceTime last = first;
  for (const TraceSlice& slice : slices) {
    first = std::min(first, slice.start);
    last = std::max(last, slice.end());
  }
  return last - first;
}

}  // namespace

TraceSummary summarize_trace(std::istream& json) {
  TraceEvents events = read_trace_events(json);
  const auto busy = find_self_times(events.slices);
  TraceSummary summary;
  summary.about = std::move(events.about);
  summary.duration = whole_duration(events.slices);
  for (const auto& [id, time] : busy) {
    const auto name = events.threads.find(id);
    summary.threads.push_back(
        {name == events.threads.end() ? std::to_string(id) : name->second, time});
  }
  const Frames frames = find_frames(events);
  summary.frames = frames.size();
  for (const auto& [name, values] : gather(frames, &FrameTimes::stages)) {
    summary.stages[name] = percentiles(values);
  }
  summary.operators = find_operators(events.slices, summary.frames);
  if (!frames.empty()) summary.slowest = find_slowest(frames);
  return summary;
}

}  // namespace lookout
