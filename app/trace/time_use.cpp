#include "app/trace/time_use.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "pipeline/profile/stage.h"

namespace lookout {
namespace {

constexpr Clock::duration kZero{};

struct Span {
  TraceTime start{};
  TraceTime end{};
};

// The slices of one thread.
using Slices =
    std::pair<std::vector<TraceSlice>::const_iterator, std::vector<TraceSlice>::const_iterator>;

std::vector<Slices> by_thread(const std::vector<TraceSlice>& slices) {
  std::vector<Slices> threads;
  for (auto first = slices.begin(); first != slices.end();) {
    const auto last = std::find_if(first, slices.end(),
                                   [&](const TraceSlice& s) { return s.thread != first->thread; });
    threads.emplace_back(first, last);
    first = last;
  }
  return threads;
}

// Times when any of the spans is open. `spans`: sorted by start.
class Cover {
 public:
  void add(const Span& span) {
    if (!merged_.empty() && span.start <= merged_.back().end) {
      merged_.back().end = std::max(merged_.back().end, span.end);
    } else {
      merged_.push_back(span);
    }
  }
  const std::vector<Span>& spans() const { return merged_; }

  // How much of it is covered.
  Clock::duration within(const Span& span) const {
    Clock::duration covered{};
    auto next = std::partition_point(merged_.begin(), merged_.end(),
                                     [&](const Span& s) { return s.end <= span.start; });
    for (; next != merged_.end() && next->start < span.end; ++next) {
      covered += std::min(next->end, span.end) - std::max(next->start, span.start);
    }
    return covered;
  }

 private:
  std::vector<Span> merged_;
};

// Which stage of which frame was when, on whatever thread.
class Flow {
 public:
  explicit Flow(const TraceEvents& events) : waits_(events.waits) {
    std::vector<Span> captures;
    for (const TraceSlice& slice : events.slices) {
      if (slice.kind != SliceKind::kStage || !slice.frame) continue;
      const std::optional<Stage> stage = parse_stage(slice.name);
      if (stage == Stage::kCapture) captures.push_back({slice.start, slice.end()});
      if (stage == Stage::kTopK) classified_[*slice.frame] = slice.end();
    }
    std::sort(captures.begin(), captures.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    for (const Span& span : captures) captures_.add(span);
  }

  // Adds the parts of `gap`, after which the thread began with `next`.
  void add_gap(const Span& gap, const TraceSlice& next, IdleTime& idle) const {
    const std::optional<Stage> stage =
        next.kind == SliceKind::kStage ? parse_stage(next.name) : std::nullopt;
    TraceTime until = gap.start;  // from when on it is other
    if (stage && next.frame) {
      if (*stage == Stage::kCapture) {
        until = add_room(gap, *next.frame, idle);
      } else if (*stage == Stage::kPreprocess) {
        until = add_frame(gap, *next.frame, idle);
      } else if (*stage == Stage::kReport) {
        until = add_worker(gap, *next.frame, idle);
      }
    }
    idle.other += gap.end - until;
  }

 private:
  // The capture thread waits until there is room for the frame before, then for the source.
  TraceTime add_room(const Span& gap, std::uint64_t frame, IdleTime& idle) const {
    const auto before = frame < 2 ? waits_.end() : waits_.find(frame - 2);
    const TraceTime room = before == waits_.end() || !before->second.end
                               ? gap.start
                               : std::clamp(*before->second.end, gap.start, gap.end);
    idle.model += room - gap.start;
    idle.camera += gap.end - room;
    return gap.end;
  }

  // Until the frame is in the double buffer.
  TraceTime add_frame(const Span& gap, std::uint64_t frame, IdleTime& idle) const {
    const auto wait = waits_.find(frame);
    if (wait == waits_.end() || !wait->second.start) return gap.start;
    const Span waited{gap.start, std::clamp(*wait->second.start, gap.start, gap.end)};
    const Clock::duration captured = captures_.within(waited);
    idle.capture += captured;
    idle.camera += waited.end - waited.start - captured;
    return waited.end;
  }

  // First for the frame, then for its classification by another thread.
  TraceTime add_worker(const Span& gap, std::uint64_t frame, IdleTime& idle) const {
    const TraceTime queued = add_frame(gap, frame, idle);
    const auto done = classified_.find(frame);
    if (done == classified_.end()) return queued;
    const TraceTime until = std::clamp(done->second, queued, gap.end);
    idle.model += until - queued;
    return until;
  }

  const std::map<std::uint64_t, TraceWait>& waits_;
  Cover captures_;
  std::map<std::uint64_t, TraceTime> classified_;
};

IdleTime idle_time(const Slices& slices, const Flow& flow, const Span& whole) {
  IdleTime idle;
  TraceTime busy_until = whole.start;
  for (auto slice = slices.first; slice != slices.second; ++slice) {
    if (slice->start > busy_until) flow.add_gap({busy_until, slice->start}, *slice, idle);
    busy_until = std::max(busy_until, slice->end());
  }
  idle.other += std::max(kZero, whole.end - busy_until);
  return idle;
}

std::vector<std::pair<std::string, StageTime>> stage_times(const Slices& slices) {
  std::map<std::string, StageTime> times;
  for (auto slice = slices.first; slice != slices.second; ++slice) {
    if (slice->kind == SliceKind::kStage) times[slice->name].add(stage_time(*slice));
  }
  std::vector<std::pair<std::string, StageTime>> ordered;
  for (const Stage stage : kAllStages) {
    const auto found = times.find(to_text(stage));
    if (found == times.end()) continue;
    ordered.emplace_back(*found);
    times.erase(found);
  }
  std::copy(times.begin(), times.end(), std::back_inserter(ordered));
  return ordered;
}

}  // namespace

void add_time(Clock::duration more, Clock::duration& sum) {
  sum = sum > Clock::duration::max() - more ? Clock::duration::max() : sum + more;
}

void StageTime::add(const StageTime& more) {
  add_time(more.ran, ran);
  add_time(more.not_run, not_run);
  add_time(more.writer, writer);
}

Clock::duration StageTime::wall() const {
  Clock::duration sum = ran;
  add_time(not_run, sum);
  add_time(writer, sum);
  return sum;
}

StageTime stage_time(const TraceSlice& slice) {
  StageTime time;
  time.writer = slice.writer;
  time.ran = slice.cpu.value_or(slice.duration - slice.writer);
  time.not_run = slice.duration - time.ran - time.writer;
  return time;
}

StageTime ThreadTime::in_stages() const {
  StageTime sum;
  for (const auto& [name, time] : stages) sum.add(time);
  return sum;
}

TraceSpanTime whole_span(const std::vector<TraceSlice>& slices) {
  if (slices.empty()) return {};
  TraceSpanTime span{slices.front().start, slices.front().end()};
  for (const TraceSlice& slice : slices) {
    span.start = std::min(span.start, slice.start);
    span.end = std::max(span.end, slice.end());
  }
  return span;
}

std::vector<ThreadTime> thread_times(const TraceEvents& events) {
  const Flow flow(events);
  const auto [start, end] = whole_span(events.slices);
  std::vector<ThreadTime> threads;
  for (const Slices& slices : by_thread(events.slices)) {
    ThreadTime thread;
    const std::int64_t id = slices.first->thread;
    const auto name = events.threads.find(id);
    thread.name = name == events.threads.end() ? std::to_string(id) : name->second;
    thread.stages = stage_times(slices);
    thread.idle = idle_time(slices, flow, {start, end});
    thread.busy = end - start - thread.idle.sum();
    threads.push_back(std::move(thread));
  }
  return threads;
}

}  // namespace lookout
