#include "app/inspect/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "app/inspect/trace_events.h"
#include "app/output/json.h"
#include "pipeline/error.h"
#include "pipeline/results/format.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

constexpr std::size_t kOperators = 15;  // that the text lists
constexpr std::size_t kFrames = 10;     // of the slowest that the text lists
constexpr std::size_t kParts = 3;       // operators of a slow frame
constexpr const char* kTotal = "total";

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

// Sorts slices by thread and start, outer ones first, and finds what each took by itself. Returns
// the time of each thread in which any of its slices was open.
std::map<std::int64_t, std::int64_t> find_self(std::vector<TraceSlice>& slices) {
  std::sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start != b.start) return a.start < b.start;
    return a.duration > b.duration;
  });
  std::map<std::int64_t, std::int64_t> busy;
  std::vector<TraceSlice*> open;
  std::int64_t covered = 0;  // until then the thread's time was counted
  for (TraceSlice& slice : slices) {
    if (!open.empty() && open.front()->thread != slice.thread) open.clear();
    while (!open.empty() && open.back()->end() <= slice.start) open.pop_back();
    slice.self = slice.duration;
    if (!open.empty())
      open.back()->self = std::max<std::int64_t>(0, open.back()->self - slice.duration);
    const auto [entry, first] = busy.try_emplace(slice.thread, 0);
    if (first) covered = slice.start;
    entry->second += std::max<std::int64_t>(0, slice.end() - std::max(covered, slice.start));
    covered = std::max(covered, slice.end());
    open.push_back(&slice);
  }
  return busy;
}

// Of which value, counted from 1, at least the given share of all does not exceed it.
std::size_t rank_of(std::size_t count, double share) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(count))));
}

double rank(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? 0 : sorted[rank_of(sorted.size(), share) - 1];
}

TraceSummary::Percentiles percentiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {rank(values, 0.50), rank(values, 0.95), rank(values, 0.99), values.back()};
}

// What is known of a frame.
struct FrameTimes {
  std::int64_t start = 0;  // in the trace
  std::int64_t end = 0;
  bool captured = false;
  bool reported = false;
  std::map<std::string, double> stages;     // in milliseconds
  std::map<std::string, double> operators;  // likewise, self time
  double total() const { return ms(end - start); }
};

void add_slice(const TraceSlice& slice, std::map<std::uint64_t, FrameTimes>& frames) {
  if (!slice.frame) return;
  FrameTimes& frame = frames[*slice.frame];
  if (slice.category == "operator") frame.operators[slice.name] += ms(slice.self);
  if (slice.category != "stage") return;
  frame.stages[slice.name] += ms(slice.duration);
  if (slice.name == "capture") {
    frame.captured = true;
    frame.start = slice.start;
  } else if (slice.name == "report") {
    frame.reported = true;
    frame.end = slice.end();
  }
}

std::map<std::uint64_t, FrameTimes> find_frames(const TraceEvents& events) {
  std::map<std::uint64_t, FrameTimes> frames;
  for (const TraceSlice& slice : events.slices) add_slice(slice, frames);
  for (const auto& [number, wait] : events.waits) {
    if (!wait.start || !wait.end || *wait.end < *wait.start) continue;
    frames[number].stages["queue-wait"] = ms(*wait.end - *wait.start);
  }
  for (auto frame = frames.begin(); frame != frames.end();) {
    FrameTimes& times = frame->second;
    if (!times.captured || !times.reported) {
      frame = frames.erase(frame);
      continue;
    }
    times.stages[kTotal] = times.total();
    ++frame;
  }
  return frames;
}

using Values = std::map<std::string, std::vector<double>>;

// Of each name one value a frame; a frame in which it did not occur has zero.
Values gather(const std::map<std::uint64_t, FrameTimes>& frames,
              std::map<std::string, double> FrameTimes::*part) {
  Values values;
  for (const auto& [number, times] : frames) {
    for (const auto& [name, time] : times.*part) values[name].push_back(time);
  }
  for (auto& [name, of_frames] : values) of_frames.resize(frames.size());
  return values;
}

std::map<std::string, double> medians(const Values& values) {
  std::map<std::string, double> result;
  for (const auto& [name, of_frames] : values) result[name] = percentiles(of_frames).p50;
  return result;
}

std::vector<TraceSummary::Part> parts(const std::map<std::string, double>& times,
                                      const std::map<std::string, double>& medians) {
  std::vector<TraceSummary::Part> result;
  for (const auto& [name, time] : times) {
    if (name != kTotal) result.push_back({name, time, time - medians.at(name)});
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.above_median_ms > b.above_median_ms;
  });
  return result;
}

// Those that the 99th percentile of the total is the fastest of.
std::vector<TraceSummary::Frame> find_slowest(const std::map<std::uint64_t, FrameTimes>& frames) {
  const auto stage_medians = medians(gather(frames, &FrameTimes::stages));
  const auto operator_medians = medians(gather(frames, &FrameTimes::operators));
  std::vector<TraceSummary::Frame> slowest;
  slowest.reserve(frames.size());
  for (const auto& [number, times] : frames) slowest.push_back({number, times.total(), {}, {}});
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const auto& a, const auto& b) { return a.total_ms > b.total_ms; });
  slowest.resize(frames.size() - rank_of(frames.size(), 0.99) + 1);
  for (TraceSummary::Frame& frame : slowest) {
    const FrameTimes& times = frames.at(frame.number);
    frame.stages = parts(times.stages, stage_medians);
    frame.operators = parts(times.operators, operator_medians);
    if (frame.operators.size() > kParts) frame.operators.resize(kParts);
  }
  return slowest;
}

std::vector<TraceSummary::Operator> find_operators(const std::vector<TraceSlice>& slices) {
  std::map<std::string, TraceSummary::Operator> by_name;
  double all = 0;
  for (const TraceSlice& slice : slices) {
    if (slice.category != "operator") continue;
    TraceSummary::Operator& sums = by_name[slice.name];
    sums.name = slice.name;
    ++sums.calls;
    sums.total_ms += ms(slice.duration);
    sums.self_ms += ms(slice.self);
    sums.longest_ms = std::max(sums.longest_ms, ms(slice.duration));
    all += ms(slice.self);
  }
  std::vector<TraceSummary::Operator> operators;
  for (auto& [name, sums] : by_name) {
    if (all > 0) sums.share = sums.self_ms / all;
    operators.push_back(std::move(sums));
  }
  std::stable_sort(operators.begin(), operators.end(),
                   [](const auto& a, const auto& b) { return a.self_ms > b.self_ms; });
  return operators;
}

std::int64_t whole_duration(const std::vector<TraceSlice>& slices) {
  if (slices.empty()) return 0;
  std::int64_t first = slices.front().start;
  std::int64_t last = first;
  for (const TraceSlice& slice : slices) {
    first = std::min(first, slice.start);
    last = std::max(last, slice.end());
  }
  return last - first;
}

// In the order of a frame's way.
const std::vector<std::string>& stage_order() {
  static const std::vector<std::string> order{"capture",   "queue-wait", "preprocess",
                                              "inference", "top-k",      "report"};
  return order;
}

std::vector<std::string> ordered_stages(const TraceSummary& summary) {
  std::vector<std::string> names;
  for (const std::string& name : stage_order()) {
    if (summary.stages.count(name) > 0) names.push_back(name);
  }
  for (const auto& [name, values] : summary.stages) {
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (!known && name != kTotal) names.push_back(name);
  }
  if (summary.stages.count(kTotal) > 0) names.emplace_back(kTotal);
  return names;
}

double busy_share(const TraceSummary& summary, const TraceSummary::Thread& thread) {
  return summary.duration_ms > 0 ? thread.busy_ms / summary.duration_ms : 0;
}

void append_parts(const std::vector<TraceSummary::Part>& parts, std::string& text) {
  const char* separator = " ";
  for (const TraceSummary::Part& part : parts) {
    fmt::format_to(std::back_inserter(text), "{}{} {:.2f} ({:+.2f})", separator,
                   printable(part.name), part.ms, part.above_median_ms);
    separator = ", ";
  }
  text += '\n';
}

void append_frame(const TraceSummary::Frame& frame, std::string& text) {
  fmt::format_to(std::back_inserter(text), "frame {}: {:.2f} ms:", frame.number, frame.total_ms);
  append_parts(frame.stages, text);
  if (frame.operators.empty()) return;
  text += "  operators:";
  append_parts(frame.operators, text);
}

Json to_json(const std::vector<TraceSummary::Part>& parts) {
  Json array = Json::array();
  for (const TraceSummary::Part& part : parts) {
    array.push_back(
        {{"name", part.name}, {"ms", part.ms}, {"above_median_ms", part.above_median_ms}});
  }
  return array;
}

}  // namespace

TraceSummary summarize_trace(std::istream& json) {
  TraceEvents events = read_trace_events(json);
  const auto busy = find_self(events.slices);
  TraceSummary summary;
  summary.about = std::move(events.about);
  summary.duration_ms = ms(whole_duration(events.slices));
  for (const auto& [id, time] : busy) {
    const auto name = events.threads.find(id);
    summary.threads.push_back(
        {name == events.threads.end() ? std::to_string(id) : name->second, ms(time)});
  }
  const auto frames = find_frames(events);
  summary.frames = frames.size();
  for (const auto& [name, values] : gather(frames, &FrameTimes::stages)) {
    summary.stages[name] = percentiles(values);
  }
  summary.operators = find_operators(events.slices);
  if (!frames.empty()) summary.slowest = find_slowest(frames);
  return summary;
}

std::string to_text(const TraceSummary& summary) {
  std::string text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "{} frames in {:.3f} s", summary.frames, summary.duration_ms / 1000);
  for (const auto& [key, value] : summary.about) {
    fmt::format_to(to, ", {} {}", printable(key), printable(value));
  }
  fmt::format_to(to, "\n\n{:<16} {:>7} {:>7}\n", "thread", "busy", "idle");
  for (const TraceSummary::Thread& thread : summary.threads) {
    const double share = 100 * busy_share(summary, thread);
    fmt::format_to(to, "{:<16} {:>5.1f} % {:>5.1f} %\n", printable(thread.name), share,
                   100 - share);
  }
  fmt::format_to(to, "\n{:<16} {:>8} {:>8} {:>8} {:>8}\n", "ms a frame", "p50", "p95", "p99",
                 "max");
  for (const std::string& name : ordered_stages(summary)) {
    const TraceSummary::Percentiles& p = summary.stages.at(name);
    fmt::format_to(to, "{:<16} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f}\n", printable(name), p.p50,
                   p.p95, p.p99, p.max);
  }
  if (!summary.operators.empty()) {
    fmt::format_to(to, "\n{:>10} {:>7} {:>10} {:>10} {:>8}  operator\n", "self ms", "share",
                   "total ms", "longest ms", "calls");
  }
  for (std::size_t i = 0; i < std::min(kOperators, summary.operators.size()); ++i) {
    const TraceSummary::Operator& row = summary.operators[i];
    fmt::format_to(to, "{:>10.2f} {:>5.1f} % {:>10.2f} {:>10.3f} {:>8}  {}\n", row.self_ms,
                   100 * row.share, row.total_ms, row.longest_ms, row.calls, printable(row.name));
  }
  if (summary.operators.size() > kOperators) {
    fmt::format_to(to, "and {} more\n", summary.operators.size() - kOperators);
  }
  if (summary.slowest.empty()) return text;
  text += "\nthe slowest frames, and in brackets how much more than the median each part took:\n";
  for (std::size_t i = 0; i < std::min(kFrames, summary.slowest.size()); ++i) {
    append_frame(summary.slowest[i], text);
  }
  if (summary.slowest.size() > kFrames) {
    fmt::format_to(to, "and {} more\n", summary.slowest.size() - kFrames);
  }
  return text;
}

std::string to_json(const TraceSummary& summary) {
  Json report{{"schema", 1},
              {"type", "trace-summary"},
              {"about", summary.about},
              {"duration_ms", summary.duration_ms},
              {"frames", summary.frames}};
  report["threads"] = Json::array();
  for (const TraceSummary::Thread& thread : summary.threads) {
    const double share = busy_share(summary, thread);
    report["threads"].push_back({{"name", thread.name},
                                 {"busy_ms", thread.busy_ms},
                                 {"busy_share", share},
                                 {"idle_share", 1 - share}});
  }
  report["latency_ms"] = Json::object();
  for (const std::string& name : ordered_stages(summary)) {
    const TraceSummary::Percentiles& p = summary.stages.at(name);
    report["latency_ms"][name] = {{"p50", p.p50}, {"p95", p.p95}, {"p99", p.p99}, {"max", p.max}};
  }
  report["operators"] = Json::array();
  for (const TraceSummary::Operator& row : summary.operators) {
    report["operators"].push_back({{"name", row.name},
                                   {"calls", row.calls},
                                   {"total_ms", row.total_ms},
                                   {"self_ms", row.self_ms},
                                   {"share", row.share},
                                   {"longest_ms", row.longest_ms}});
  }
  report["slowest_frames"] = Json::array();
  for (const TraceSummary::Frame& frame : summary.slowest) {
    report["slowest_frames"].push_back({{"frame", frame.number},
                                        {"total_ms", frame.total_ms},
                                        {"stages", to_json(frame.stages)},
                                        {"operators", to_json(frame.operators)}});
  }
  return to_text(report) + "\n";
}

std::string trace_summary(const TraceSummaryOptions& options) {
  std::ifstream file = open_input("trace", options.file);
  try {
    const TraceSummary summary = summarize_trace(file);
    return options.format == Format::kJson ? to_json(summary) : to_text(summary);
  } catch (const Error& error) {
    throw Error(error.kind(), "trace " + options.file + " " + error.what());
  }
}

}  // namespace lookout
