#include "app/trace/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/trace/trace_events.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

// Sorts slices by thread and start, outer ones first, and sets the self time of each.
void find_self_times(std::vector<TraceSlice>& slices) {
  std::sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start != b.start) return a.start < b.start;
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.kind < b.kind;
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

double rate_of(const Frames& frames) {
  if (frames.size() < 2) return 0;
  const double ms = to_ms(frames.rbegin()->second.start - frames.begin()->second.start);
  return ms > 0 ? 1000 * static_cast<double>(frames.size() - 1) / ms : 0;
}

Verdict verdict_of(const TraceSummary& summary) {
  VerdictFacts facts;
  facts.frames = summary.frames.size();
  facts.duration = summary.duration;
  facts.fps = summary.fps;
  facts.by_pytorch = summary.by_pytorch;
  facts.has_cpu_times = summary.has_cpu_times;
  const auto total = summary.stages.find(kTotalTime);
  if (total != summary.stages.end()) facts.total = total->second;
  return find_verdict(facts, summary.threads, summary.counters);
}

}  // namespace

std::vector<double> totals_ms(const TraceSummary& summary) {
  std::vector<double> totals;
  totals.reserve(summary.frames.size());
  for (const auto& [number, times] : summary.frames) totals.push_back(to_ms(times.total()));
  return totals;
}

std::vector<Mark> latency_marks(const TraceSummary& summary) {
  const Percentiles& total = summary.stages.at(kTotalTime);
  std::vector<Mark> marks;
  for (const auto& [name, time] :
       {std::pair("p50", total.p50), std::pair("p95", total.p95), std::pair("p99", total.p99)}) {
    marks.push_back({fmt::format("{} {:.1f}", name, to_ms(time)), to_ms(time)});
  }
  return marks;
}

std::vector<std::string> stages_in_order(const TraceSummary& summary) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const bool listed = std::find(names.begin(), names.end(), name) != names.end();
    if (!listed && summary.stages.count(name) > 0) names.push_back(name);
  };
  for (const Stage stage : kAllStages) add(to_text(stage));
  for (const auto& [name, values] : summary.stages) {
    if (name != kTotalTime) add(name);
  }
  add(kTotalTime);
  return names;
}

TraceSummary summarize_trace(std::istream& json, const OutlierRule& outliers) {
  TraceEvents events = read_trace_events(json);
  find_self_times(events.slices);
  TraceSummary summary;
  summary.about = std::move(events.about);
  summary.by_pytorch = events.by_pytorch;
  summary.has_cpu_times = std::any_of(events.slices.begin(), events.slices.end(),
                                      [](const TraceSlice& s) { return s.cpu.has_value(); });
  const TraceSpanTime span = whole_span(events.slices);
  summary.start = span.start;
  summary.duration = span.end - span.start;
  summary.threads = thread_times(events);
  summary.frames = find_frames(events);
  summary.fps = rate_of(summary.frames);
  summary.stages = stage_percentiles(summary.frames);
  summary.operators = operator_breakdown(events.slices);
  summary.counters = counter_summaries(events, span.end);
  summary.rule = outliers;
  if (!summary.frames.empty()) {
    summary.cut_off = cut_off(outliers, summary.frames);
    summary.outliers = find_outliers(outliers, summary.frames);
  }
  summary.verdict = verdict_of(summary);
  return summary;
}

}  // namespace lookout
