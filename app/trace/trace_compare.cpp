#include "app/trace/trace_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "app/trace/welch_interval.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr double kProbability = 0.95;
constexpr std::size_t kMaxRows = 30;  // that are shown at once
constexpr const char* kMethod =
    "Welch's intervals of the difference of the means a frame, over ten blocks of consecutive "
    "frames; they hold with 95 % for all rows of a list together";

// Milliseconds a frame.
struct TimeChange {
  std::string name;
  std::string change;  // "slower", "faster", "added" or "gone"; empty: no difference
  double before = 0;   // the mean; 0: it does not occur
  double after = 0;
  // Of after - before. The widest interval is infinite: there is one frame.
  double low = 0;
  double high = 0;
  double difference() const { return after - before; }
};

TimeChange change_of(const std::string& name, const Samples& before, const Samples& after,
                     double probability) {
  TimeChange change{name, "", mean_of(before), mean_of(after)};
  std::tie(change.low, change.high) =
      welch_interval(independent_samples(before), independent_samples(after), probability);
  if (change.low > 0) change.change = "slower";
  if (change.high < 0) change.change = "faster";
  return change;
}

// Milliseconds in each frame; of operators, in each frame that has some.
struct FrameSamples {
  std::map<std::string, Samples> by_name;  // 0 in a frame in which the name does not occur
  Samples none;                            // 0 in each
};

FrameSamples gather_samples(const TraceSummary& summary, Times FrameTimes::*times) {
  FrameSamples samples;
  for (const auto& [number, frame] : summary.frames) {
    if ((frame.*times).empty()) continue;
    for (const auto& [name, time] : frame.*times) {
      Samples& values = samples.by_name[name];
      values.resize(samples.none.size());
      values.push_back(to_ms(time));
    }
    samples.none.push_back(0);
  }
  for (auto& [name, values] : samples.by_name) values.resize(samples.none.size());
  return samples;
}

// Sorted by name.
std::vector<TimeChange> changes_between(const TraceSummary& before, const TraceSummary& after,
                                        Times FrameTimes::*times) {
  const FrameSamples first = gather_samples(before, times);
  const FrameSamples second = gather_samples(after, times);
  std::map<std::string, Samples> names = first.by_name;
  names.insert(second.by_name.begin(), second.by_name.end());
  const double probability =
      1 - (1 - kProbability) / static_cast<double>(std::max<std::size_t>(1, names.size()));
  std::vector<TimeChange> rows;
  for (const auto& [name, samples] : names) {
    const auto old = first.by_name.find(name);
    const auto now = second.by_name.find(name);
    const bool is_added = old == first.by_name.end();
    const bool is_gone = now == second.by_name.end();
    rows.push_back(change_of(name, is_added ? first.none : old->second,
                             is_gone ? second.none : now->second, probability));
    if (is_added) rows.back().change = "added";
    if (is_gone) rows.back().change = "gone";
  }
  return rows;
}

struct TraceComparison {
  TimeChange total;                   // of a frame's way; its interval is its own alone
  std::vector<TimeChange> stages;     // in their order; empty: both are of PyTorch's profiler
  std::vector<TimeChange> operators;  // the largest difference first
  std::string sentence;
};

TraceComparison compare(const TraceFile& before, const TraceFile& after) {
  const auto totals = [](const TraceFile& trace) {
    Samples samples;
    for (const auto& [number, frame] : trace.summary.frames)
      samples.push_back(to_ms(frame.total()));
    return samples;
  };
  TraceComparison found;
  found.total = change_of(kTotalTime, totals(before), totals(after), kProbability);
  found.stages = changes_between(before.summary, after.summary, &FrameTimes::stages);
  std::sort(found.stages.begin(), found.stages.end(),
            [](const auto& a, const auto& b) { return StageOrder()(a.name, b.name); });
  found.operators = changes_between(before.summary, after.summary, &FrameTimes::operators);
  std::stable_sort(found.operators.begin(), found.operators.end(),
                   [](const TimeChange& a, const TimeChange& b) {
                     return std::abs(a.difference()) > std::abs(b.difference());
                   });
  const TimeChange& total = found.total;
  const std::string figures = fmt::format(
      "{:.2f} ms a {} before, {:.2f} ms after: {:+.2f} ms, 95 % interval {:+.2f} to {:+.2f}",
      total.before, frame_word(before.summary.by_pytorch && after.summary.by_pytorch), total.after,
      total.difference(), total.low, total.high);
  found.sentence =
      total.change.empty()
          ? fmt::format("{} and {} do not differ ({}).", before.file, after.file, figures)
          : fmt::format("{} is {} than {} ({}).", after.file, total.change, before.file, figures);
  return found;
}

Json change_json(const TimeChange& change) {
  // Infinity is no number of JSON.
  const auto finite = [](double value) {
    return std::isfinite(value) ? Json(rounded(value, 6)) : Json();
  };
  return {{"name", change.name},
          {"change", change.change.empty() ? Json() : Json(change.change)},
          {"before_ms", finite(change.before)},
          {"after_ms", finite(change.after)},
          {"difference_ms", finite(change.difference())},
          {"interval_ms", {finite(change.low), finite(change.high)}}};
}

Json comparison_json(const TraceFile& before, const TraceFile& after) {
  const auto trace_json = [](const TraceFile& trace) -> Json {
    return {{"file", trace.file},
            {"frames", trace.summary.frames.size()},
            {"about", trace.summary.about}};
  };
  const TraceComparison found = compare(before, after);
  return {{"schema", 1},
          {"type", "trace-comparison"},
          {"sentence", found.sentence},
          {"method", kMethod},
          {"before", trace_json(before)},
          {"after", trace_json(after)},
          {"total", change_json(found.total)},
          {"stages", array_of(found.stages, change_json)},
          {"operators", array_of(found.operators, change_json)}};
}

// None when there are no rows.
void add_changes(const std::string& title, const std::string& caption, const std::string& note,
                 const std::vector<TimeChange>& rows, Report& report) {
  if (rows.empty()) return;
  Table table{
      caption, {"name", "before", "after", "difference", "interval", "change"}, {}, kMaxRows};
  table.head.back().align = Column::Align::kLeft;
  for (const TimeChange& row : rows) {
    table.rows.push_back({row.name, fmt::format("{:.3f}", row.before),
                          fmt::format("{:.3f}", row.after),
                          fmt::format("{:+.3f}", row.difference()),
                          fmt::format("{:+.3f} to {:+.3f}", row.low, row.high),
                          row.change.empty() ? "no difference" : row.change});
  }
  report.parts.push_back({title, note, {std::move(table)}, Width::kFull});
}

}  // namespace

Report make_comparison(const TraceFile& before, const TraceFile& after) {
  const TraceComparison found = compare(before, after);
  const std::size_t frames_before = before.summary.frames.size();
  const std::size_t frames_after = after.summary.frames.size();
  const std::string method =
      fmt::format("Means in ms a frame, of {} frames before and {} after. {}.", frames_before,
                  frames_after, kMethod);
  Report report;
  report.kind = "lookout trace-summary";
  report.title = "Two traces";
  report.head = {method};
  report.verdict = found.sentence;
  report.parts = {{"Traces",
                   "",
                   {Facts{{"before", fmt::format("{}, {} frames", before.file, frames_before)},
                          {"after", fmt::format("{}, {} frames", after.file, frames_after)}}},
                   Width::kFull}};
  add_changes("Stages", "Milliseconds a frame", method, found.stages, report);
  add_changes("Operators", "Self time in milliseconds a frame", method, found.operators, report);
  report.json = [&before, &after] { return comparison_json(before, after); };
  return report;
}

}  // namespace lookout
