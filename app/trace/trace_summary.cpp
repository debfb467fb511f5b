#include "app/trace/trace_summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>

#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// Adds, and stops at the largest duration: times in a damaged file may be too large to be added.
void add_time(Clock::duration more, Clock::duration& sum) {
  sum = sum > Clock::duration::max() - more ? Clock::duration::max() : sum + more;
}

// Sorts slices by thread and start, outer ones first, and sets the self time of each.
void find_self_times(std::vector<TraceSlice>& slices) {
  std::sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
    return std::tie(a.thread, a.start, b.duration, a.kind) <
           std::tie(b.thread, b.start, a.duration, b.kind);
  });
  std::vector<TraceSlice*> open;
  for (TraceSlice& slice : slices) {
    if (!open.empty() && open.front()->thread != slice.thread) open.clear();
    while (!open.empty() && open.back()->end() <= slice.start) open.pop_back();
    slice.self = slice.duration;
    if (!open.empty()) {
      Clock::duration& outer = open.back()->self;
      outer = std::max(Clock::duration::zero(), outer - slice.duration);
    }
    open.push_back(&slice);
  }
}

StageTime stage_time(const TraceSlice& slice) {
  StageTime time;
  time.writer = slice.writer;
  time.ran = slice.cpu.value_or(slice.duration - slice.writer);
  time.off_cpu = slice.duration - time.ran - time.writer;
  return time;
}

struct Span {
  TraceTime start{};
  TraceTime end{};
};

// When frames were captured, waited and were classified, on whatever thread.
struct FrameFlow {
  const std::map<std::uint64_t, TraceWait>& waits;
  std::vector<Span> captures;  // sorted and apart from each other
  std::map<std::uint64_t, TraceTime> classified;
};

FrameFlow find_flow(const TraceEvents& events) {
  FrameFlow flow{events.waits, {}, {}};
  std::vector<Span> captures;
  for (const TraceSlice& slice : events.slices) {
    if (slice.kind != SliceKind::kStage || !slice.frame) continue;
    const std::optional<Stage> stage = parse_stage(slice.name);
    if (stage == Stage::kCapture) captures.push_back({slice.start, slice.end()});
    if (stage == Stage::kTopK) flow.classified[*slice.frame] = slice.end();
  }
  std::sort(captures.begin(), captures.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  for (const Span& span : captures) {
    if (!flow.captures.empty() && span.start <= flow.captures.back().end) {
      flow.captures.back().end = std::max(flow.captures.back().end, span.end);
    } else {
      flow.captures.push_back(span);
    }
  }
  return flow;
}

// How much of the span lies in captures.
Clock::duration time_in_captures(const std::vector<Span>& captures, const Span& span) {
  Clock::duration covered{};
  auto next = std::partition_point(captures.begin(), captures.end(),
                                   [&](const Span& s) { return s.end <= span.start; });
  for (; next != captures.end() && next->start < span.end; ++next) {
    covered += std::min(next->end, span.end) - std::max(next->start, span.start);
  }
  return covered;
}

// Adds the parts of `gap`, after which the thread began with `next`.
void add_gap(const FrameFlow& flow, const Span& gap, const TraceSlice& next, IdleTime& idle) {
  const bool has_stage = next.kind == SliceKind::kStage && next.frame;
  const std::optional<Stage> stage = parse_stage(has_stage ? next.name : std::string());
  TraceTime until = gap.start;  // from when on it is other
  if (stage == Stage::kCapture) {
    // The thread waits until there is room for the frame before, then for the source.
    const auto before = *next.frame < 2 ? flow.waits.end() : flow.waits.find(*next.frame - 2);
    const bool is_known = before != flow.waits.end() && before->second.end;
    const TraceTime room =
        is_known ? std::clamp(*before->second.end, gap.start, gap.end) : gap.start;
    idle.model += room - gap.start;
    idle.camera += gap.end - room;
    until = gap.end;
  } else if (stage == Stage::kCompare || stage == Stage::kPreprocess || stage == Stage::kReport) {
    // The thread waits until the frame is in the double buffer, ...
    const auto wait = flow.waits.find(*next.frame);
    if (wait != flow.waits.end() && wait->second.start) {
      until = std::clamp(*wait->second.start, gap.start, gap.end);
      const Clock::duration captured = time_in_captures(flow.captures, {gap.start, until});
      idle.capture += captured;
      idle.camera += until - gap.start - captured;
    }
    // ... and before it reports, for another thread that classifies.
    const auto done = flow.classified.find(*next.frame);
    if (stage == Stage::kReport && done != flow.classified.end()) {
      const TraceTime end = std::clamp(done->second, until, gap.end);
      idle.model += end - until;
      until = end;
    }
  }
  idle.other += gap.end - until;
}

// `events.slices` are sorted by thread and start, and lie in `whole`.
std::vector<ThreadTime> thread_times(const TraceEvents& events, const Span& whole) {
  const FrameFlow flow = find_flow(events);
  std::vector<ThreadTime> threads;
  for (auto slice = events.slices.begin(); slice != events.slices.end();) {
    ThreadTime thread;
    const std::int64_t id = slice->thread;
    const auto name = events.threads.find(id);
    thread.name = name == events.threads.end() ? std::to_string(id) : name->second;
    TraceTime busy_until = whole.start;
    for (; slice != events.slices.end() && slice->thread == id; ++slice) {
      if (slice->kind == SliceKind::kStage) thread.stages[slice->name].add(stage_time(*slice));
      if (slice->start > busy_until) add_gap(flow, {busy_until, slice->start}, *slice, thread.idle);
      busy_until = std::max(busy_until, slice->end());
    }
    thread.idle.other += whole.end - busy_until;
    thread.busy = whole.end - whole.start - thread.idle.sum();
    threads.push_back(std::move(thread));
  }
  return threads;
}

// Steps do not overlap. Operators, which have no number of theirs, are in the one they began in.
Frames find_steps(const TraceEvents& events) {
  Frames frames;
  std::map<TraceTime, FrameTimes*> starts;
  for (const TraceSlice& slice : events.slices) {
    if (slice.kind != SliceKind::kStep) continue;
    FrameTimes& frame = frames[*slice.frame];
    frame.start = slice.start;
    frame.end = slice.end();
    starts[slice.start] = &frame;
  }
  for (const TraceSlice& slice : events.slices) {
    if (slice.kind != SliceKind::kOperator) continue;
    const auto after = starts.upper_bound(slice.start);
    if (after == starts.begin()) continue;
    FrameTimes& frame = *std::prev(after)->second;
    if (slice.start < frame.end) add_time(slice.self, frame.operators[slice.name]);
  }
  return frames;
}

bool is_complete(const FrameTimes& frame) {
  return frame.stages.count(to_text(Stage::kCapture)) > 0 &&
         frame.stages.count(to_text(Stage::kReport)) > 0 && frame.start <= frame.end;
}

// The slices have their self times.
Frames find_frames(const TraceEvents& events) {
  if (events.by_pytorch) return find_steps(events);
  Frames frames;
  for (const TraceSlice& slice : events.slices) {
    if (!slice.frame) continue;
    if (slice.kind == SliceKind::kOperator) {
      add_time(slice.self, frames[*slice.frame].operators[slice.name]);
    } else if (slice.kind == SliceKind::kStage) {
      FrameTimes& frame = frames[*slice.frame];
      add_time(slice.duration, frame.stages[slice.name]);
      frame.use.add(stage_time(slice));
      if (slice.name == to_text(Stage::kCapture)) frame.start = slice.start;
      if (slice.name == to_text(Stage::kReport)) frame.end = slice.end();
    }
  }
  for (const auto& [number, wait] : events.waits) {
    if (!wait.start || !wait.end || *wait.end < *wait.start) continue;
    frames[number].stages[to_text(Stage::kQueueWait)] = *wait.end - *wait.start;
  }
  for (auto frame = frames.begin(); frame != frames.end();) {
    frame = is_complete(frame->second) ? std::next(frame) : frames.erase(frame);
  }
  return frames;
}

// Removes the frames whose results were reused, and returns their number.
std::size_t remove_reused(Frames& frames) {
  const auto is_computed = [](const auto& frame) {
    return frame.second.stages.count(to_text(Stage::kInference)) > 0;
  };
  if (std::none_of(frames.begin(), frames.end(), is_computed)) return 0;  // no stages are known
  const std::size_t all = frames.size();
  for (auto frame = frames.begin(); frame != frames.end();) {
    frame = is_computed(*frame) ? std::next(frame) : frames.erase(frame);
  }
  return all - frames.size();
}

using Values = std::map<std::string, std::vector<Clock::duration>>;

// One value for each frame and name; zero for a frame in which the name does not occur.
Values gather(const Frames& frames, Times FrameTimes::*part) {
  Values values;
  for (const auto& [number, times] : frames) {
    for (const auto& [name, time] : times.*part) values[name].push_back(time);
  }
  for (auto& [name, times] : values) times.resize(frames.size());
  return values;
}

std::vector<Clock::duration> totals(const Frames& frames) {
  std::vector<Clock::duration> values;
  values.reserve(frames.size());
  for (const auto& [number, times] : frames) values.push_back(times.total());
  return values;
}

ByStage<Percentiles> stage_percentiles(const Frames& frames) {
  ByStage<Percentiles> result;
  for (auto& [name, values] : gather(frames, &FrameTimes::stages)) {
    result[name] = find_percentiles(std::move(values));
  }
  if (!frames.empty()) result[kTotalTime] = find_percentiles(totals(frames));
  return result;
}

double frame_rate(const Frames& frames) {
  if (frames.size() < 2) return 0;
  const double ms = to_ms(frames.rbegin()->second.start - frames.begin()->second.start);
  return ms > 0 ? 1000 * static_cast<double>(frames.size() - 1) / ms : 0;
}

Times medians(const Values& values) {
  Times result;
  for (const auto& [name, times] : values) result[name] = find_percentiles(times).p50;
  return result;
}

std::vector<Outlier::Part> find_parts(const Times& times, const Times& medians) {
  std::vector<Outlier::Part> parts;
  for (const auto& [name, time] : times) parts.push_back({name, time, time - medians.at(name)});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.above_median > b.above_median; });
  return parts;
}

void find_outliers(TraceSummary& summary) {
  constexpr std::size_t kMaxOperators = 3;
  const Frames& frames = summary.frames;
  if (frames.empty()) return;
  std::vector<Clock::duration> sorted = totals(frames);
  std::sort(sorted.begin(), sorted.end());
  const std::size_t rank = nearest_rank(sorted.size(), summary.rule.percentile / 100);
  summary.cut_off = summary.rule.time.value_or(sorted[rank - 1]);
  const Times stage_medians = medians(gather(frames, &FrameTimes::stages));
  const Times operator_medians = medians(gather(frames, &FrameTimes::operators));
  std::vector<Outlier>& outliers = summary.outliers;
  for (const auto& [number, times] : frames) {
    if (times.total() < summary.cut_off) continue;
    outliers.push_back({number, times.total(), times.use, find_parts(times.stages, stage_medians),
                        find_parts(times.operators, operator_medians)});
    auto& operators = outliers.back().operators;
    if (operators.size() > kMaxOperators) operators.resize(kMaxOperators);
  }
  std::stable_sort(outliers.begin(), outliers.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  const std::size_t most = frames.size() - rank + 1;
  if (!summary.rule.time && outliers.size() > most) outliers.resize(most);
}

using Calls = std::map<std::string, std::vector<const TraceSlice*>>;

std::vector<OperatorTime> operator_times(const Calls& calls_by_name) {
  std::vector<OperatorTime> rows;
  Clock::duration all{};
  for (const auto& [name, calls] : calls_by_name) {
    OperatorTime row;
    row.name = name;
    row.calls = calls.size();
    row.min = calls.front()->duration;
    double squares = 0;  // sum of the squared deviations from the mean, by Welford's method
    double counted = 0;
    for (const TraceSlice* call : calls) {
      add_time(call->duration, row.total);
      add_time(call->self, row.self);
      row.min = std::min(row.min, call->duration);
      row.max = std::max(row.max, call->duration);
      row.bytes += call->bytes;
      const double ms = to_ms(call->duration);
      const double from_mean = ms - row.mean_ms;
      row.mean_ms += from_mean / ++counted;
      squares += from_mean * (ms - row.mean_ms);
    }
    row.deviation_ms = std::sqrt(squares / counted);
    add_time(row.self, all);
    rows.push_back(std::move(row));
  }
  for (OperatorTime& row : rows) row.share = share_of(row.self, all);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.self > b.self; });
  return rows;
}

// The slices have their self times.
OperatorBreakdown operator_breakdown(const std::vector<TraceSlice>& slices) {
  Calls by_name;
  Calls by_layer;
  Calls by_label;
  for (const TraceSlice& slice : slices) {
    if (slice.kind == SliceKind::kLabel) by_label[slice.name].push_back(&slice);
    if (slice.kind != SliceKind::kOperator) continue;
    by_name[slice.name].push_back(&slice);
    if (!slice.layer.empty()) by_layer[slice.layer].push_back(&slice);
  }
  return {operator_times(by_name), operator_times(by_layer), operator_times(by_label)};
}

CounterSummary counter_summary(const std::string& name, const TraceCounter& counter,
                               TraceTime end) {
  CounterSummary summary;
  summary.name = name;
  summary.unit = counter.unit;
  summary.count = counter.values.size();
  summary.values = counter.values;
  std::stable_sort(summary.values.begin(), summary.values.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  struct Held {
    double value = 0;
    std::uint64_t ns = 0;
  };
  std::vector<Held> sorted;
  std::uint64_t whole = 0;
  for (std::size_t i = 0; i < summary.count; ++i) {
    const auto& [time, value] = summary.values[i];
    const TraceTime until = i + 1 < summary.count ? summary.values[i + 1].first : end;
    sorted.push_back(
        {value,
         static_cast<std::uint64_t>(std::max<std::int64_t>(
             0, std::chrono::duration_cast<std::chrono::nanoseconds>(until - time).count()))});
    whole += sorted.back().ns;
  }
  if (whole == 0) {  // Values that held for no time at all still count when all of them did.
    for (Held& held : sorted) held.ns = 1;
    whole = sorted.size();
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Held& a, const Held& b) { return a.value < b.value; });
  const auto quantile = [&](double share) {
    std::uint64_t before = 0;
    const std::uint64_t rank = nearest_rank(whole, share);
    return std::find_if(sorted.begin(), sorted.end(),
                        [&](const Held& held) { return (before += held.ns) >= rank; })
        ->value;
  };
  const auto mean = [&](auto term) {
    double sum = 0;
    for (const Held& held : sorted) sum += term(held.value) * static_cast<double>(held.ns);
    return sum / static_cast<double>(whole);
  };
  summary.min = sorted.front().value;
  summary.max = sorted.back().value;
  summary.mean = mean([](double value) { return value; });
  summary.deviation =
      std::sqrt(mean([&](double value) { return std::pow(value - summary.mean, 2); }));
  summary.p25 = quantile(0.25);
  summary.p50 = quantile(0.50);
  summary.p75 = quantile(0.75);
  return summary;
}

}  // namespace

void StageTime::add(const StageTime& more) {
  add_time(more.ran, ran);
  add_time(more.off_cpu, off_cpu);
  add_time(more.writer, writer);
}

Clock::duration StageTime::wall() const {
  Clock::duration sum = ran;
  add_time(off_cpu, sum);
  add_time(writer, sum);
  return sum;
}

bool StageOrder::operator()(const std::string& a, const std::string& b) const {
  const auto place = [](const std::string& name) {
    const auto found = std::find_if(kAllStages.begin(), kAllStages.end(),
                                    [&](Stage stage) { return name == to_text(stage); });
    return found - kAllStages.begin() + (name == kTotalTime ? 1 : 0);
  };
  const auto place_of_a = place(a);
  const auto place_of_b = place(b);
  return place_of_a != place_of_b ? place_of_a < place_of_b : a < b;
}

StageTime ThreadTime::in_stages() const {
  StageTime sum;
  for (const auto& [name, time] : stages) sum.add(time);
  return sum;
}

Clock::duration FrameTimes::between() const {
  Clock::duration sum{};
  for (const auto& [name, time] : stages) add_time(time, sum);
  return total() - sum;
}

Percentiles TraceSummary::total() const {
  const auto found = stages.find(kTotalTime);
  return found == stages.end() ? Percentiles() : found->second;
}

TraceSummary summarize_trace(std::istream& json, const OutlierRule& outliers) {
  TraceEvents events = read_trace_events(json);
  find_self_times(events.slices);
  Span whole;
  if (!events.slices.empty()) whole = {TraceTime::max(), TraceTime::min()};
  TraceSummary summary;
  for (const TraceSlice& slice : events.slices) {
    whole = {std::min(whole.start, slice.start), std::max(whole.end, slice.end())};
    summary.has_cpu_times = summary.has_cpu_times || slice.cpu;
  }
  summary.about = std::move(events.about);
  summary.by_pytorch = events.by_pytorch;
  summary.start = whole.start;
  summary.duration = whole.end - whole.start;
  summary.threads = thread_times(events, whole);
  summary.frames = find_frames(events);
  summary.fps = frame_rate(summary.frames);
  summary.reused = remove_reused(summary.frames);
  summary.stages = stage_percentiles(summary.frames);
  summary.operators = operator_breakdown(events.slices);
  for (const auto& [name, counter] : events.counters) {
    summary.counters.push_back(counter_summary(name, counter, whole.end));
  }
  std::stable_partition(summary.counters.begin(), summary.counters.end(),
                        [](const CounterSummary& counter) { return counter.unit == "frames"; });
  summary.rule = outliers;
  find_outliers(summary);
  summary.verdict = find_verdict(summary);
  return summary;
}

}  // namespace lookout
