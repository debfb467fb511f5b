#include "app/trace/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "app/report/html.h"
#include "app/report/time_charts.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr int kDecimals = 6;               // of milliseconds: a trace has nanoseconds
constexpr std::size_t kMaxBars = 12;       // operators and layers in a chart
constexpr std::size_t kMaxRowsShown = 20;  // of them that are shown at once
constexpr std::size_t kMaxOutliers = 25;   // in the table

// ---- JSON

Json thread_json(const TraceSummary& summary, const ThreadTime& thread) {
  const double share = share_of(thread.busy, summary.duration);
  Json json{{"name", thread.name},
            {"busy_ms", to_ms(thread.busy)},
            {"busy_share", share},
            {"idle_share", 1 - share}};
  if (summary.by_pytorch) return json;
  json["stages"] = array_of(thread.stages, [](const auto& stage) -> Json {
    const auto& [name, time] = stage;
    return {{"name", name},
            {"ran_ms", to_ms(time.ran)},
            {"not_run_ms", to_ms(time.off_cpu)},
            {"writer_ms", to_ms(time.writer)}};
  });
  for (const IdlePart& part : kIdleParts)
    json["idle_ms"][part.name] = to_ms(thread.idle.*part.time);
  return json;
}

Json operator_json(const OperatorTime& row) {
  Json json{{"name", row.name},
            {"calls", row.calls},
            {"total_ms", to_ms(row.total)},
            {"self_ms", to_ms(row.self)},
            {"share", row.share},
            {"longest_ms", to_ms(row.max)},
            {"shortest_ms", to_ms(row.min)},
            {"mean_ms", rounded(row.mean_ms, kDecimals)},
            {"deviation_ms", rounded(row.deviation_ms, kDecimals)}};
  if (row.bytes > 0) json["bytes"] = row.bytes;
  return json;
}

Json counter_json(const TraceSummary& summary, const CounterSummary& counter) {
  return {{"name", counter.name},
          {"unit", counter.unit},
          {"count", counter.count},
          {"min", counter.min},
          {"p25", counter.p25},
          {"p50", counter.p50},
          {"p75", counter.p75},
          {"max", counter.max},
          {"mean", rounded(counter.mean, kDecimals)},
          {"deviation", rounded(counter.deviation, kDecimals)},
          {"values", array_of(counter.values, [&](const auto& value) {
             return Json::array({to_ms(value.first - summary.start), value.second});
           })}};
}

Json outlier_json(const Outlier& frame) {
  const auto part_json = [](const Outlier::Part& part) -> Json {
    return {{"name", part.name},
            {"ms", to_ms(part.time)},
            {"above_median_ms", to_ms(part.above_median)}};
  };
  return {{"frame", frame.number},
          {"total_ms", to_ms(frame.total)},
          {"not_run_ms", to_ms(frame.use.off_cpu)},
          {"writer_ms", to_ms(frame.use.writer)},
          {"stages", array_of(frame.stages, part_json)},
          {"operators", array_of(frame.operators, part_json)}};
}

Json frame_json(const TraceSummary& summary, std::uint64_t number, const FrameTimes& times) {
  Json json{{"frame", number},
            {"start_ms", to_ms(times.start - summary.start)},
            {"total_ms", to_ms(times.total())}};
  if (summary.by_pytorch) return json;
  for (const auto& [name, time] : times.stages) json["parts_ms"][name] = to_ms(time);
  json["parts_ms"]["between"] = to_ms(times.between());
  json["not_run_ms"] = to_ms(times.use.off_cpu);
  json["writer_ms"] = to_ms(times.use.writer);
  return json;
}

// The total times of the frames in milliseconds, and the percentiles that a histogram of them
// points out.
std::pair<std::vector<double>, std::vector<Mark>> latencies(const TraceSummary& summary) {
  std::vector<double> times;
  for (const auto& [number, frame] : summary.frames) times.push_back(to_ms(frame.total()));
  std::vector<Mark> marks;
  for (const auto& [name, time] : named(summary.total())) {
    marks.push_back({fmt::format("{} {:.1f}", name, to_ms(time)), to_ms(time)});
  }
  marks.pop_back();  // the maximum
  return {std::move(times), std::move(marks)};
}

// ---- Parts

std::string trace_ms(Clock::duration time) { return fmt::format("{:.2f}", to_ms(time)); }

std::string trace_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string busy_text(const TraceSummary& summary, const ThreadTime& thread) {
  return trace_percent(share_of(thread.busy, summary.duration)) + " busy";
}

std::vector<Tile> make_tiles(const TraceSummary& summary) {
  const VerdictShares& shares = summary.verdict.shares;
  const Percentiles total = summary.total();
  std::vector<Tile> tiles{{frame_word(summary.by_pytorch, 2), std::to_string(summary.frames.size()),
                           fmt::format("in {:.2f} s", to_ms(summary.duration) / 1000)}};
  if (!summary.frames.empty()) {
    tiles.push_back({"rate",
                     fmt::format("{:.1f} {}", summary.fps, summary.by_pytorch ? "steps/s" : "fps"),
                     ""});
    tiles.push_back({summary.by_pytorch ? "a step" : "latency of a frame",
                     fmt::format("{:.1f} ms", to_ms(total.p50)),
                     fmt::format("median; p99 {:.1f} ms", to_ms(total.p99))});
  }
  if (!summary.by_pytorch) {
    tiles.push_back({"waited for the camera", trace_percent(shares.camera), "of the model's time"});
    tiles.push_back({"did not run", trace_percent(shares.processor), "of the time in stages"});
    tiles.push_back({"waited for the writer", trace_percent(shares.writer), "of the time"});
  }
  return tiles;
}

const Legend& idle_legend() {
  static const Legend legend{{Color::kPale, "waited for the camera"},
                             {Color::kSky, "waited for the capture"},
                             {Color::kNavy, "waited for the model"},
                             {Color::kGray, "other"}};
  return legend;
}

// What a thread did with its time; see trace_summary.h.
Part time_breakdown(const TraceSummary& summary) {
  Legend legend{{Color::kBlue, "ran"},
                {Color::kOrange, "did not run"},
                {Color::kAmber, "waited for the writer"}};
  legend.insert(legend.end(), idle_legend().begin(), idle_legend().end());
  std::vector<Bar> bars;
  Table stages{"Milliseconds of each thread and stage", {"stage", "wall"}, {}};
  stages.folded = "All stages";
  Table shares{"Percent of the time", {"thread"}, {}};
  for (const StagePart& part : kStageParts) {
    stages.head.emplace_back(part.name);
    shares.head.emplace_back(part.name);
  }
  for (const IdlePart& part : kIdleParts) shares.head.emplace_back(part.name);
  const auto share_text = [&](Clock::duration time) {
    return fmt::format("{:.1f}", percent_of(time, summary.duration));
  };
  for (const ThreadTime& thread : summary.threads) {
    const StageTime all = thread.in_stages();
    Bar bar{thread.name, busy_text(summary, thread), {}, std::nullopt};
    Row row{thread.name};
    const auto add = [&](Clock::duration time) {
      bar.parts.push_back(to_ms(time));
      row.push_back(share_text(time));
    };
    for (const StagePart& part : kStageParts) add(all.*part.time);
    for (const IdlePart& part : kIdleParts) add(thread.idle.*part.time);
    bars.push_back(std::move(bar));
    shares.rows.push_back(std::move(row));
    for (const auto& [name, time] : thread.stages) {
      Row stage{thread.name + ": " + name, trace_ms(time.wall())};
      Row share{"  " + name};
      for (const StagePart& part : kStageParts) {
        stage.push_back(trace_ms(time.*part.time));
        share.push_back(share_text(time.*part.time));
      }
      share.resize(shares.head.size());
      stages.rows.push_back(std::move(stage));
      shares.rows.push_back(std::move(share));
    }
  }
  const std::string note =
      summary.has_cpu_times
          ? "What each thread did with the time of the trace. A thread that did not run in a stage "
            "waited for a processor; in the inference on several threads, or in decoding a video, "
            "it may have waited for the threads that work with it."
          : "What each thread did with the time of the trace. It has no CPU times: running and "
            "waiting for a processor cannot be told apart.";
  return {"Temporal breakdown",
          note,
          {Chart{bar_chart(bars, legend)}, Block(std::move(stages), Shown::kHtml),
           Block(std::move(shares), Shown::kTexts)}};
}

Part idle_breakdown(const TraceSummary& summary) {
  std::vector<Bar> bars;
  Table table{"Milliseconds without a stage", {"thread", "idle"}, {}};
  for (const IdlePart& part : kIdleParts) table.head.emplace_back(part.name);
  for (const ThreadTime& thread : summary.threads) {
    const std::string idle = trace_ms(thread.idle.sum());
    Row row{thread.name, idle};
    Bar bar{thread.name, idle + " ms", {}, std::nullopt};
    for (const IdlePart& part : kIdleParts) {
      row.push_back(trace_ms(thread.idle.*part.time));
      bar.parts.push_back(to_ms(thread.idle.*part.time));
    }
    table.rows.push_back(std::move(row));
    bars.push_back(std::move(bar));
  }
  return {"Idle breakdown",
          "Between its stages a thread waits: for the camera, while no new frame is there; for the "
          "capture, while a frame is copied, converted or decoded; for the model, when the capture "
          "thread has no room for a frame, or the thread that reports has no result.",
          {Chart{bar_chart(bars, idle_legend())}, Block(std::move(table), Shown::kHtml)}};
}

TimeColumn column_of(std::uint64_t number, const FrameTimes& times, bool by_pytorch) {
  TimeColumn column{
      fmt::format("{} {}: {:.2f} ms", frame_word(by_pytorch), number, to_ms(times.total())), {}};
  if (by_pytorch) {
    column.parts = {to_ms(times.total())};
    return column;
  }
  Clock::duration rest = times.total();
  for (const Stage stage : kAllStages) {
    if (stage == Stage::kCompare) continue;  // too short to be seen: it is in the rest
    const auto found = times.stages.find(to_text(stage));
    const Clock::duration time = found == times.stages.end() ? Clock::duration() : found->second;
    column.parts.push_back(to_ms(time));
    rest -= time;
    column.title += fmt::format(", {} {:.2f}", to_text(stage), to_ms(time));
  }
  column.parts.push_back(std::max(0.0, to_ms(rest)));
  return column;
}

Part each_frame(const TraceSummary& summary) {
  const bool by_pytorch = summary.by_pytorch;
  std::vector<TimeColumn> columns;
  for (const auto& [number, times] : summary.frames) {
    columns.push_back(column_of(number, times, by_pytorch));
  }
  Table stages{by_pytorch ? "Milliseconds a step" : "Milliseconds a frame", {"stage"}, {}};
  for (const auto& [name, time] : named(Percentiles())) stages.head.emplace_back(name);
  for (const auto& [stage, percentiles] : summary.stages) {
    Row row{stage};
    for (const auto& [name, time] : named(percentiles)) row.push_back(trace_ms(time));
    stages.rows.push_back(std::move(row));
  }
  std::string note = by_pytorch ? "The time of each step of PyTorch's profiler."
                                : "The latency of each frame, from its capture to its report.";
  if (columns.size() > kMaxColumns) {
    note += fmt::format(" Of neighbouring {} the slowest is shown.", frame_word(by_pytorch, 2));
  }
  Legend parts{{Color::kBlue, ""}};
  if (!by_pytorch) {
    parts = stage_legend();
    parts.emplace_back(Color::kOrange, "between stages");
  }
  const double median = to_ms(summary.total().p50);
  const Mark line{fmt::format("median {:.1f} ms", median), median};
  return {by_pytorch ? "Each step" : "Each frame",
          note,
          {Chart{column_chart(note, columns, parts, line, "ms")}, std::move(stages)},
          Width::kFull};
}

// Stages or operators that took longer than their medians.
std::string parts_text(const std::vector<Outlier::Part>& parts) {
  std::string text;
  for (const Outlier::Part& part : parts) {
    if (part.above_median.count() <= 0) continue;
    text +=
        fmt::format("{}{} {:+.2f}", text.empty() ? "" : ", ", part.name, to_ms(part.above_median));
  }
  return text;
}

Part slow_frames(const TraceSummary& summary) {
  constexpr auto kLeft = Column::Align::kLeft;
  Table table{"Milliseconds, and how much more than the median",
              {frame_word(summary.by_pytorch),
               "total",
               "did not run",
               {"writer", Shown::kTexts},
               {"longer than usual", Shown::kEverywhere, kLeft},
               {"operators", Shown::kTexts, kLeft}},
              {},
              kMaxOutliers};
  for (const Outlier& frame : summary.outliers) {
    const std::string operators = parts_text(frame.operators);
    table.rows.push_back({std::to_string(frame.number), trace_ms(frame.total),
                          trace_ms(frame.use.off_cpu), trace_ms(frame.use.writer),
                          summary.by_pytorch ? operators : parts_text(frame.stages),
                          summary.by_pytorch ? "" : operators});
  }
  const OutlierRule& rule = summary.rule;
  const std::string note =
      fmt::format("{} of {} take {:.2f} ms or more ({}).", summary.outliers.size(),
                  summary.frames.size(), to_ms(summary.cut_off),
                  rule.time ? fmt::format("{:g} ms", to_ms(*rule.time))
                            : fmt::format("p{:g}", rule.percentile));
  return {"Outliers", note, {Block(Lines{{note}}, Shown::kTexts), std::move(table)}, Width::kFull};
}

// Bars of the largest rows.
std::vector<Bar> largest(const std::vector<OperatorTime>& rows,
                         const std::function<Bar(const OperatorTime&)>& bar_of) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(kMaxBars, rows.size()); ++i) bars.push_back(bar_of(rows[i]));
  return bars;
}

bool has_bytes(const OperatorTime& row) { return row.bytes > 0; }

double megabytes(const OperatorTime& row) { return static_cast<double>(row.bytes) / 1e6; }

// Operators, layers or labels. None when there are no rows.
void add_operators(const std::string& title, const std::string& note,
                   const std::vector<OperatorTime>& rows, Report& report) {
  if (rows.empty()) return;
  Table table{"Times of single calls in milliseconds",
              {"name", "self ms", "share", "total ms", "calls", "min", "mean", "max", "deviation"},
              {},
              kMaxRowsShown};
  const bool with_bytes = std::any_of(rows.begin(), rows.end(), has_bytes);
  if (with_bytes) table.head.emplace_back("MB");
  for (const OperatorTime& row : rows) {
    Row cells{row.name, trace_ms(row.self), trace_percent(row.share), trace_ms(row.total),
              std::to_string(row.calls)};
    for (const double ms : {to_ms(row.min), row.mean_ms, to_ms(row.max), row.deviation_ms}) {
      cells.push_back(fmt::format("{:.3f}", ms));
    }
    if (with_bytes) cells.push_back(fmt::format("{:.2f}", megabytes(row)));
    table.rows.push_back(std::move(cells));
  }
  const std::vector<Bar> bars = largest(rows, [](const OperatorTime& row) -> Bar {
    return {row.name,
            fmt::format("{} ms, {}", trace_ms(row.self), trace_percent(row.share)),
            {to_ms(row.self)},
            std::nullopt};
  });
  report.parts.push_back(
      {title, note, {Chart{bar_chart(bars, {Color::kBlue})}, std::move(table)}, Width::kFull});
}

void add_memory(std::vector<OperatorTime> rows, Report& report) {
  rows.erase(std::remove_if(rows.begin(), rows.end(), std::not_fn(has_bytes)), rows.end());
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  const std::vector<Bar> bars = largest(rows, [](const OperatorTime& row) -> Bar {
    return {row.name, fmt::format("{:.2f} MB", megabytes(row)), {megabytes(row)}, std::nullopt};
  });
  report.parts.push_back({"Memory",
                          "What the operators allocated in all frames together.",
                          {Chart{bar_chart(bars, {Color::kSky})}}});
}

void add_counters(const TraceSummary& summary, Report& report) {
  if (summary.counters.empty()) return;
  std::string charts = "<div class=\"classes\">\n";
  Table table{"Weighted by time",
              {"counter", "count", "min", "p25", "p50", "p75", "max", "mean", "deviation"},
              {}};
  for (const CounterSummary& c : summary.counters) {
    TimeSteps steps;
    steps.unit = c.unit;
    steps.end = to_ms(summary.duration) / 1000;
    for (const auto& [time, value] : c.values) {
      const double seconds = to_ms(time - summary.start) / 1000;
      steps.values.emplace_back(std::clamp(seconds, 0.0, steps.end), value);
    }
    charts += fmt::format("<div><h3>{}</h3>\n{}</div>\n", escaped(c.name),
                          step_chart(c.name + " over the time of the trace", steps));
    Row row{fmt::format("{} ({})", c.name, c.unit), std::to_string(c.count)};
    for (const double value : {c.min, c.p25, c.p50, c.p75, c.max, c.mean, c.deviation}) {
      row.push_back(fmt::format("{:.5g}", value));
    }
    table.rows.push_back(std::move(row));
  }
  report.parts.push_back({"Queue and machine",
                          "Frames that wait in the double buffer, that are being classified, and "
                          "that were dropped; and what the machine was like.",
                          {Chart{charts + "</div>\n"}, std::move(table)},
                          Width::kFull});
}

Part latency_part(const TraceSummary& summary) {
  const std::string note = summary.by_pytorch
                               ? "How many steps took how long."
                               : "How many frames took how long, from capture to report.";
  const auto [times, marks] = latencies(summary);
  return {"Latency", note, {Chart{histogram(note, times, marks, "ms")}}};
}

}  // namespace

std::string frame_word(bool by_pytorch, std::size_t count) {
  return std::string(by_pytorch ? "step" : "frame") + (count == 1 ? "" : "s");
}

const Legend& stage_legend() {
  static const Legend legend{
      {Color::kPale, to_text(Stage::kCapture)},   {Color::kGray, to_text(Stage::kQueueWait)},
      {Color::kSky, to_text(Stage::kPreprocess)}, {Color::kBlue, to_text(Stage::kInference)},
      {Color::kNavy, to_text(Stage::kTopK)},      {Color::kAmber, to_text(Stage::kReport)}};
  return legend;
}

Json to_json(const TraceSummary& summary) {
  const VerdictShares& shares = summary.verdict.shares;
  Json latency = Json::object();
  for (const auto& [stage, times] : summary.stages) latency[stage] = to_json(times, kDecimals);
  const auto [times, marks] = latencies(summary);
  const OperatorBreakdown& operators = summary.operators;
  return {{"schema", 1},
          {"type", "trace-summary"},
          {"about", summary.about},
          {"verdict",
           {{"limit", to_text(summary.verdict.limit)},
            {"sentence", summary.verdict.sentence},
            {"camera_share", rounded(shares.camera, kDecimals)},
            {"capture_share", rounded(shares.capture, kDecimals)},
            {"writer_share", rounded(shares.writer, kDecimals)},
            {"processor_share", rounded(shares.processor, kDecimals)},
            {"throttled_share", rounded(shares.throttled, kDecimals)}}},
          {"by_pytorch", summary.by_pytorch},
          {"has_cpu_times", summary.has_cpu_times},
          {"duration_ms", to_ms(summary.duration)},
          {"frames", summary.frames.size()},
          {"reused", summary.reused},
          {"fps", rounded(summary.fps, kDecimals)},
          {"threads",
           array_of(summary.threads, [&](const auto& t) { return thread_json(summary, t); })},
          {"latency_ms", std::move(latency)},
          {"latency_histogram", array_of(histogram_bins(times, marks),
                                         [](const Bin& bin) -> Json {
                                           return {{"from_ms", rounded(bin.from)},
                                                   {"to_ms", rounded(bin.to)},
                                                   {"frames", bin.count}};
                                         })},
          {"operators", array_of(operators.by_name, operator_json)},
          {"layers", array_of(operators.by_layer, operator_json)},
          {"labels", array_of(operators.by_label, operator_json)},
          {"counters",
           array_of(summary.counters, [&](const auto& c) { return counter_json(summary, c); })},
          {"outliers_from_ms", to_ms(summary.cut_off)},
          {"slowest_frames", array_of(summary.outliers, outlier_json)},
          {"each_frame", array_of(summary.frames, [&](const auto& frame) {
             return frame_json(summary, frame.first, frame.second);
           })}};
}

Report make_report(const TraceFile& trace) {
  const TraceSummary& summary = trace.summary;
  const auto model = summary.about.find("model");
  Report report;
  report.kind = "lookout trace-summary";
  report.title = model == summary.about.end() ? trace.file : model->second;
  report.note = trace.file;
  report.head = {fmt::format("{} {} in {:.3f} s", summary.frames.size(),
                             frame_word(summary.by_pytorch, summary.frames.size()),
                             to_ms(summary.duration) / 1000)};
  if (summary.reused > 0) {
    report.head.front() += fmt::format(", besides {} with a reused result", summary.reused);
  }
  for (const auto& [key, value] : summary.about) {
    report.head.front() += fmt::format(", {} {}", key, value);
  }
  report.verdict = summary.verdict.sentence;
  report.tiles = make_tiles(summary);
  report.tiles_shown = Shown::kHtml;
  if (summary.by_pytorch) {
    report.warnings = {
        "PyTorch's profiler wrote this trace. It has no stages of frames, so that waiting and the "
        "machine are left out."};
    Facts busy;
    for (const ThreadTime& thread : summary.threads) {
      busy.emplace_back(thread.name, busy_text(summary, thread));
    }
    report.parts = {{"Threads", "", {std::move(busy)}}};
  } else {
    report.parts = {time_breakdown(summary), idle_breakdown(summary)};
  }
  if (!summary.frames.empty()) {
    report.parts.push_back(each_frame(summary));
    report.parts.push_back(slow_frames(summary));
  }
  const OperatorBreakdown& operators = summary.operators;
  add_operators("Operators", "Self time is without the operators that an operator called.",
                operators.by_name, report);
  add_operators("Layers", "The operators of each layer together.", operators.by_layer, report);
  add_operators("Labels", "Parts of the model that its author named with record_function.",
                operators.by_label, report);
  add_counters(summary, report);
  if (!summary.frames.empty()) report.parts.push_back(latency_part(summary));
  add_memory(operators.by_name, report);
  const Facts facts(summary.about.begin(), summary.about.end());
  if (!facts.empty()) report.parts.push_back({"Run", "", {Block(facts, Shown::kHtml)}});
  report.json = [&summary] { return to_json(summary); };
  return report;
}

}  // namespace lookout
