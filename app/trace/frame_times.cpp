#include "app/trace/frame_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "pipeline/profile/stage.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxParts = 3;  // operators of an outlier

void add_stage(const TraceSlice& slice, FrameTimes& frame) {
  add_time(slice.duration, frame.stages[slice.name]);
  frame.use.add(stage_time(slice));
  if (slice.name == to_text(Stage::kCapture)) {
    frame.captured = true;
    frame.start = slice.start;
  } else if (slice.name == to_text(Stage::kReport)) {
    frame.reported = true;
    frame.end = slice.end();
  }
}

void add_slice(const TraceSlice& slice, Frames& frames) {
  if (!slice.frame) return;
  if (slice.kind == SliceKind::kOperator) {
    add_time(slice.self, frames[*slice.frame].operators[slice.name]);
  } else if (slice.kind == SliceKind::kStage) {
    add_stage(slice, frames[*slice.frame]);
  }
}

void add_waits(const TraceEvents& events, Frames& frames) {
  for (const auto& [number, wait] : events.waits) {
    if (!wait.start || !wait.end || *wait.end < *wait.start) continue;
    frames[number].stages[to_text(Stage::kQueueWait)] = *wait.end - *wait.start;
  }
}

// Steps do not overlap. Operators, which have no number of theirs, are in the one they began in.
Frames find_steps(const TraceEvents& events) {
  Frames frames;
  std::map<TraceTime, std::uint64_t> starts;
  for (const TraceSlice& slice : events.slices) {
    if (slice.kind != SliceKind::kStep) continue;
    FrameTimes& frame = frames[*slice.frame];
    frame.start = slice.start;
    frame.end = slice.end();
    starts[slice.start] = *slice.frame;
  }
  for (const TraceSlice& slice : events.slices) {
    if (slice.kind != SliceKind::kOperator) continue;
    auto step = starts.upper_bound(slice.start);
    if (step == starts.begin()) continue;
    FrameTimes& frame = frames[(--step)->second];
    if (slice.start < frame.end) add_time(slice.self, frame.operators[slice.name]);
  }
  return frames;
}

// Counted from 1, the first of `count` sorted values that at least the given share does not exceed.
std::size_t rank_of(std::size_t count, double share) {
  constexpr double kRounding = 1e-9;  // of 0.999 * 1000, which is a little more than 999
  const double rank = std::ceil(share * static_cast<double>(count) - kRounding);
  return static_cast<std::size_t>(std::max(1.0, rank));
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

std::vector<Outlier::Part> find_parts(const Times& times, const Times& medians) {
  std::vector<Outlier::Part> parts;
  for (const auto& [name, time] : times) parts.push_back({name, time, time - medians.at(name)});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.above_median > b.above_median; });
  return parts;
}

std::vector<Clock::duration> totals(const Frames& frames) {
  std::vector<Clock::duration> values;
  values.reserve(frames.size());
  for (const auto& [number, times] : frames) values.push_back(times.total());
  return values;
}

}  // namespace

Clock::duration FrameTimes::between() const {
  Clock::duration sum{};
  for (const auto& [name, time] : stages) add_time(time, sum);
  return total() - sum;
}

Frames find_frames(const TraceEvents& events) {
  if (events.by_pytorch) return find_steps(events);
  Frames frames;
  for (const TraceSlice& slice : events.slices) add_slice(slice, frames);
  add_waits(events, frames);
  for (auto frame = frames.begin(); frame != frames.end();) {
    const FrameTimes& times = frame->second;
    const bool complete = times.captured && times.reported && times.start <= times.end;
    frame = complete ? std::next(frame) : frames.erase(frame);
  }
  return frames;
}

Percentiles percentiles(std::vector<Clock::duration> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&values](double share) { return values[rank_of(values.size(), share) - 1]; };
  return {at(0.50), at(0.95), at(0.99), values.back()};
}

std::map<std::string, Percentiles> stage_percentiles(const Frames& frames) {
  std::map<std::string, Percentiles> result;
  for (auto& [name, values] : gather(frames, &FrameTimes::stages)) {
    result[name] = percentiles(std::move(values));
  }
  if (!frames.empty()) result[kTotalTime] = percentiles(totals(frames));
  return result;
}

Clock::duration cut_off(const OutlierRule& rule, const Frames& frames) {
  if (rule.time) return *rule.time;
  std::vector<Clock::duration> values = totals(frames);
  std::sort(values.begin(), values.end());
  return values[rank_of(values.size(), rule.percentile / 100) - 1];
}

std::vector<Outlier> find_outliers(const OutlierRule& rule, const Frames& frames) {
  const Clock::duration least = cut_off(rule, frames);
  const Times stage_medians = medians(gather(frames, &FrameTimes::stages));
  const Times operator_medians = medians(gather(frames, &FrameTimes::operators));
  std::vector<Outlier> outliers;
  for (const auto& [number, times] : frames) {
    if (times.total() < least) continue;
    Outlier outlier{number, times.total(), times.use, find_parts(times.stages, stage_medians),
                    find_parts(times.operators, operator_medians)};
    if (outlier.operators.size() > kMaxParts) outlier.operators.resize(kMaxParts);
    outliers.push_back(std::move(outlier));
  }
  std::stable_sort(outliers.begin(), outliers.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  const std::size_t most = frames.size() - rank_of(frames.size(), rule.percentile / 100) + 1;
  if (!rule.time && outliers.size() > most) outliers.resize(most);
  return outliers;
}

}  // namespace lookout
