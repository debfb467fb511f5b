#include "app/trace/trace_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/report/charts.h"
#include "app/report/html.h"
#include "app/report/time_charts.h"
#include "app/trace/trace_text.h"
#include "pipeline/profile/stage.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxBars = 12;       // operators and layers in a chart
constexpr std::size_t kMaxRowsShown = 20;  // of them that are shown at once
constexpr std::size_t kMaxOutliers = 25;   // in the table
constexpr const char* kIdleNote =
    "Between its stages a thread waits: for the camera, while no new frame is there; for the "
    "capture, while a frame is copied, converted or decoded; for the model, when the capture "
    "thread has no room for a frame, or the thread that reports has no result.";

std::string ms_text(Clock::duration time) { return fmt::format("{:.2f}", to_ms(time)); }

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string tiles(const TraceSummary& summary) {
  const VerdictShares& shares = summary.verdict.shares;
  std::vector<Tile> all{{frame_word(summary, 2), std::to_string(summary.frames.size()),
                         fmt::format("in {:.2f} s", to_ms(summary.duration) / 1000)}};
  if (!summary.frames.empty()) {
    const Percentiles& total = summary.stages.at(kTotalTime);
    all.push_back({"rate",
                   summary.by_pytorch ? fmt::format("{:.1f} steps/s", summary.fps)
                                      : fmt::format("{:.1f} fps", summary.fps),
                   ""});
    all.push_back({summary.by_pytorch ? "a step" : "latency of a frame",
                   fmt::format("{:.1f} ms", to_ms(total.p50)),
                   fmt::format("median; p99 {:.1f} ms", to_ms(total.p99))});
  }
  if (!summary.by_pytorch) {
    all.push_back({"waited for the camera", percent_text(shares.camera), "of the model's time"});
    all.push_back({"did not run", percent_text(shares.processor), "of the time in stages"});
    all.push_back({"waited for the writer", percent_text(shares.writer), "of the time"});
  }
  return to_html(all);
}

const std::vector<std::pair<Color, std::string>>& time_colors() {
  static const std::vector<std::pair<Color, std::string>> colors{
      {Color::kBlue, "ran"},
      {Color::kOrange, "did not run"},
      {Color::kAmber, "waited for the writer"},
      {Color::kPale, "waited for the camera"},
      {Color::kSky, "waited for the capture"},
      {Color::kNavy, "waited for the model"},
      {Color::kGray, "other"}};
  return colors;
}

std::vector<Color> colors_of(const std::vector<std::pair<Color, std::string>>& entries) {
  std::vector<Color> colors;
  colors.reserve(entries.size());
  for (const auto& [color, name] : entries) colors.push_back(color);
  return colors;
}

void add_time_breakdown(const TraceSummary& summary, Page& page) {
  std::vector<Bar> bars;
  Table table{"Milliseconds of each thread and stage",
              {"stage", "wall", "ran", "did not run", "writer"},
              {}};
  for (const ThreadTime& thread : summary.threads) {
    const StageTime stages = thread.in_stages();
    const IdleTime& idle = thread.idle;
    Bar bar{thread.name,
            percent_text(share_of(thread.busy, summary.duration)) + " busy",
            {to_ms(stages.ran), to_ms(stages.off_cpu), to_ms(stages.writer), to_ms(idle.camera),
             to_ms(idle.capture), to_ms(idle.model), to_ms(idle.other)},
            std::nullopt};
    bars.push_back(std::move(bar));
    for (const auto& [name, time] : thread.stages) {
      table.rows.push_back({thread.name + ": " + name, ms_text(time.wall()), ms_text(time.ran),
                            ms_text(time.off_cpu), ms_text(time.writer)});
    }
  }
  const std::string note =
      summary.has_cpu_times
          ? "What each thread did with the time of the trace. A thread that did not run in a stage "
            "waited for a processor; in the inference on several threads, or in decoding a video, "
            "it may have waited for the threads that work with it."
          : "What each thread did with the time of the trace. It has no CPU times: running and "
            "waiting for a processor cannot be told apart.";
  page.add_part("Temporal breakdown", note,
                legend(time_colors()) + bar_chart(bars, colors_of(time_colors())) +
                    details("All stages", to_html(table)));
}

void add_idle_breakdown(const TraceSummary& summary, Page& page) {
  std::vector<Bar> bars;
  Table table{"Milliseconds without a stage", {"thread", "idle"}, {}};
  for (const IdlePart& part : kIdleParts) table.head.emplace_back(part.key);
  for (const ThreadTime& thread : summary.threads) {
    const Clock::duration idle = thread.idle.sum();
    Row row{thread.name, ms_text(idle)};
    Bar bar{thread.name, fmt::format("{} ms", ms_text(idle)), {}, std::nullopt};
    for (const IdlePart& part : kIdleParts) {
      row.push_back(ms_text(thread.idle.*part.time));
      bar.parts.push_back(to_ms(thread.idle.*part.time));
    }
    table.rows.push_back(std::move(row));
    bars.push_back(std::move(bar));
  }
  const std::vector<std::pair<Color, std::string>> entries(time_colors().begin() + 3,
                                                           time_colors().end());
  page.add_part("Idle breakdown", kIdleNote,
                legend(entries) + bar_chart(bars, colors_of(entries)) + to_html(table));
}

const std::vector<std::pair<Color, std::string>>& stage_colors() {
  static const std::vector<std::pair<Color, std::string>> colors{
      {Color::kPale, "capture"},         {Color::kGray, "queue-wait"}, {Color::kSky, "preprocess"},
      {Color::kBlue, "inference"},       {Color::kNavy, "top-k"},      {Color::kAmber, "report"},
      {Color::kOrange, "between stages"}};
  return colors;
}

TimeColumn column_of(std::uint64_t number, const FrameTimes& times, bool has_stages) {
  TimeColumn column{
      fmt::format("{} {}: {:.2f} ms", has_stages ? "frame" : "step", number, to_ms(times.total())),
      {}};
  if (!has_stages) {
    column.parts = {to_ms(times.total())};
    return column;
  }
  Clock::duration rest = times.total();
  for (const Stage stage : kAllStages) {
    const auto found = times.stages.find(to_text(stage));
    const Clock::duration time = found == times.stages.end() ? Clock::duration() : found->second;
    column.parts.push_back(to_ms(time));
    rest -= time;
    column.title += fmt::format(", {} {:.2f}", to_text(stage), to_ms(time));
  }
  column.parts.push_back(std::max(0.0, to_ms(rest)));
  return column;
}

Table stage_table(const TraceSummary& summary) {
  Table table{summary.by_pytorch ? "Milliseconds a step" : "Milliseconds a frame",
              {"stage", "p50", "p95", "p99", "max"},
              {}};
  for (const auto& [stage, times] : summary.stages) {
    Row row{stage};
    for (const auto& [name, time] : named(times)) row.push_back(ms_text(time));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_frames(const TraceSummary& summary, Page& page) {
  std::vector<TimeColumn> columns;
  for (const auto& [number, times] : summary.frames) {
    columns.push_back(column_of(number, times, !summary.by_pytorch));
  }
  const double median = median_ms(summary);
  const Mark line{fmt::format("median {:.1f} ms", median), median};
  std::string note = summary.by_pytorch
                         ? "The time of each step of PyTorch's profiler."
                         : "The latency of each frame, from its capture to its report.";
  if (columns.size() > kMaxColumns)
    note += fmt::format(" Of neighbouring {} the slowest is shown.", frame_word(summary, 2));
  const std::vector<Color> colors =
      summary.by_pytorch ? std::vector<Color>{Color::kBlue} : colors_of(stage_colors());
  page.add_part(summary.by_pytorch ? "Each step" : "Each frame", note,
                (summary.by_pytorch ? "" : legend(stage_colors())) +
                    column_chart(note, columns, colors, line, "ms") + to_html(stage_table(summary)),
                Page::Width::kFull);
}

void add_latency(const TraceSummary& summary, Page& page) {
  const std::string note = summary.by_pytorch
                               ? "How many steps took how long."
                               : "How many frames took how long, from capture to report.";
  page.add_part("Latency", note, histogram(note, totals_ms(summary), latency_marks(summary), "ms"));
}

Row row_of(const OperatorTime& row, bool has_bytes) {
  Row cells{row.name,
            ms_text(row.self),
            percent_text(row.share),
            ms_text(row.total),
            std::to_string(row.calls),
            fmt::format("{:.3f}", to_ms(row.min)),
            fmt::format("{:.3f}", row.mean_ms),
            fmt::format("{:.3f}", to_ms(row.max)),
            fmt::format("{:.3f}", row.deviation_ms)};
  if (has_bytes) cells.push_back(fmt::format("{:.2f}", static_cast<double>(row.bytes) / 1e6));
  return cells;
}

bool has_bytes(const std::vector<OperatorTime>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.bytes > 0; });
}

Table table_of(const std::vector<OperatorTime>& rows) {
  Table table{"Times of single calls in milliseconds",
              {"name", "self ms", "share", "total ms", "calls", "min", "mean", "max", "deviation"},
              {}};
  const bool bytes = has_bytes(rows);
  if (bytes) table.head.emplace_back("MB");
  for (const OperatorTime& row : rows) table.rows.push_back(row_of(row, bytes));
  return table;
}

// Operators, layers or labels.
void add_rows(const std::string& title, const std::string& note,
              const std::vector<OperatorTime>& rows, Page& page) {
  if (rows.empty()) return;
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(kMaxBars, rows.size()); ++i) {
    bars.push_back({rows[i].name,
                    fmt::format("{} ms, {}", ms_text(rows[i].self), percent_text(rows[i].share)),
                    {to_ms(rows[i].self)},
                    std::nullopt});
  }
  page.add_part(title, note,
                bar_chart(bars, {Color::kBlue}) + to_html(table_of(rows), kMaxRowsShown),
                Page::Width::kFull);
}

void add_memory(const std::vector<OperatorTime>& operators, Page& page) {
  if (!has_bytes(operators)) return;
  std::vector<OperatorTime> rows = operators;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min(kMaxBars, rows.size()) && rows[i].bytes > 0; ++i) {
    const double megabytes = static_cast<double>(rows[i].bytes) / 1e6;
    bars.push_back({rows[i].name, fmt::format("{:.2f} MB", megabytes), {megabytes}, std::nullopt});
  }
  page.add_part("Memory", "What the operators allocated in all frames together.",
                bar_chart(bars, {Color::kSky}));
}

Table counter_table(const std::vector<CounterSummary>& counters) {
  Table table{"Weighted by time",
              {"counter", "count", "min", "p25", "p50", "p75", "max", "mean", "deviation"},
              {}};
  const auto text = [](double value) { return fmt::format("{:.5g}", value); };
  for (const CounterSummary& c : counters) {
    table.rows.push_back({fmt::format("{} ({})", c.name, c.unit), std::to_string(c.count),
                          text(c.min), text(c.p25), text(c.p50), text(c.p75), text(c.max),
                          text(c.mean), text(c.deviation)});
  }
  return table;
}

void add_counters(const TraceSummary& summary, Page& page) {
  if (summary.counters.empty()) return;
  std::string html = "<div class=\"classes\">\n";
  for (const CounterSummary& counter : summary.counters) {
    TimeSteps steps;
    steps.unit = counter.unit;
    steps.end = to_ms(summary.duration) / 1000;
    for (const auto& [time, value] : counter.values) {
      const double seconds = to_ms(time - summary.start) / 1000;
      steps.values.emplace_back(std::clamp(seconds, 0.0, steps.end), value);
    }
    html += fmt::format("<div><h3>{}</h3>\n{}</div>\n", escaped(counter.name),
                        step_chart(counter.name + " over the time of the trace", steps));
  }
  page.add_part("Queue and machine",
                "Frames that wait in the double buffer, that are being classified, and that were "
                "dropped; and what the machine was like.",
                html + "</div>\n" + to_html(counter_table(summary.counters)), Page::Width::kFull);
}

std::string parts_text(const std::vector<Outlier::Part>& parts) {
  std::string text;
  for (const Outlier::Part& part : parts) {
    if (part.above_median.count() <= 0) continue;
    text +=
        fmt::format("{}{} {:+.2f}", text.empty() ? "" : ", ", part.name, to_ms(part.above_median));
  }
  return text;
}

void add_outliers(const TraceSummary& summary, Page& page) {
  Table table{"Milliseconds, and how much more than the median",
              {frame_word(summary), "total", "did not run", "longer than usual"},
              {}};
  for (const Outlier& frame : summary.outliers) {
    const std::string longer = parts_text(summary.by_pytorch ? frame.operators : frame.stages);
    table.rows.push_back(
        {std::to_string(frame.number), ms_text(frame.total), ms_text(frame.use.off_cpu), longer});
  }
  page.add_part("Outliers",
                fmt::format("{} of {} take {:.2f} ms or more ({}).", summary.outliers.size(),
                            summary.frames.size(), to_ms(summary.cut_off), to_text(summary.rule)),
                to_html(std::move(table), kMaxOutliers), Page::Width::kFull);
}

void add_about(const TraceSummary& summary, Page& page) {
  const Facts facts(summary.about.begin(), summary.about.end());
  if (!facts.empty()) page.add_part("Run", "", to_html(facts));
}

}  // namespace

std::string to_html(const TraceSummary& summary, const std::string& file,
                    const std::string& made_by) {
  const auto model = summary.about.find("model");
  Page page("lookout trace-summary", model == summary.about.end() ? file : model->second, file);
  page.add_verdict(summary.verdict.sentence);
  page.add_top(tiles(summary));
  if (summary.by_pytorch) {
    page.add_warning(
        "PyTorch's profiler wrote this trace. It has no stages of frames, so that threads, waiting "
        "and the machine are left out.");
  } else {
    add_time_breakdown(summary, page);
    add_idle_breakdown(summary, page);
  }
  if (!summary.frames.empty()) {
    add_frames(summary, page);
    add_outliers(summary, page);
  }
  const OperatorBreakdown& operators = summary.operators;
  add_rows("Operators", "Self time is without the operators that an operator called.",
           operators.by_name, page);
  add_rows("Layers", "The operators of each layer together.", operators.by_layer, page);
  add_rows("Labels", "Parts of the model that its author named with record_function.",
           operators.by_label, page);
  add_counters(summary, page);
  if (!summary.frames.empty()) add_latency(summary, page);
  add_memory(operators.by_name, page);
  add_about(summary, page);
  return page.to_html(made_by);
}

}  // namespace lookout
