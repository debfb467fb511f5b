#include "app/bench/bench_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/report/charts.h"
#include "app/report/html.h"
#include "app/report/machine_facts.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"
#include "pipeline/results/statistics.h"

namespace lookout {
namespace {

const BenchResult& fastest(const BenchReport& report) {
  return *std::max_element(report.results.begin(), report.results.end(),
                           [](const BenchResult& a, const BenchResult& b) {
                             return a.stats.classified_fps < b.stats.classified_fps;
                           });
}

const BenchResult& lowest_latency(const BenchReport& report) {
  return *std::min_element(report.results.begin(), report.results.end(),
                           [](const BenchResult& a, const BenchResult& b) {
                             return a.stats.total.p50 < b.stats.total.p50;
                           });
}

std::string tiles(const BenchReport& report) {
  const BenchResult& fast = fastest(report);
  const BenchResult& quick = lowest_latency(report);
  return to_html(std::vector<Tile>{
      {"highest rate", fmt::format("{:.1f} fps", fast.stats.classified_fps), title(fast)},
      {"lowest latency", fmt::format("{:.1f} ms", to_ms(quick.stats.total.p50)),
       "median; " + title(quick)},
      {"its p99", fmt::format("{:.1f} ms", to_ms(quick.stats.total.p99)),
       fmt::format("jitter (p99/p50) {:.2f}", jitter(quick))},
      {"combinations", std::to_string(report.results.size()),
       report.machine.system.board.empty() ? report.machine.kind : report.machine.system.board}});
}

void add_rates(const BenchReport& report, Page& page) {
  std::vector<Bar> bars;
  for (const BenchResult& result : report.results) {
    Bar bar{title(result),
            fmt::format("{:.1f} fps", result.stats.classified_fps),
            {result.stats.classified_fps},
            std::nullopt};
    if (result.fps_spread) bar.spread = {result.fps_spread->low, result.fps_spread->high};
    bars.push_back(std::move(bar));
  }
  page.add_part("Rates",
                "Frames classified per second. The line over a bar: the rates of single seconds, "
                "without the lowest and the highest tenth of them.",
                bar_chart(bars, {Color::kBlue}));
}

void add_times(const BenchReport& report, Page& page) {
  std::vector<Bar> bars;
  for (const BenchResult& result : report.results) {
    const StatsSnapshot& stats = result.stats;
    bars.push_back(
        {title(result),
         fmt::format("{:.1f} ms, p99 {:.1f}", to_ms(stats.total.p50), to_ms(stats.total.p99)),
         {to_ms(stats.capture.p50), to_ms(stats.preprocess.p50), to_ms(stats.inference.p50)},
         std::pair(to_ms(stats.total.p50), to_ms(stats.total.p99))});
  }
  page.add_part(
      "Time of a frame",
      "Medians of the stages. The line over a bar: the latency, from its median to "
      "its 99th percentile.",
      legend(
          {{Color::kPale, "capture"}, {Color::kSky, "preprocess"}, {Color::kBlue, "inference"}}) +
          bar_chart(bars, {Color::kPale, Color::kSky, Color::kBlue}));
}

void add_verdicts(const BenchReport& report, Page& page) {
  Facts verdicts;
  for (const BenchResult& result : report.results) {
    verdicts.emplace_back(title(result), verdict(result, report.results));
  }
  page.add_part("Verdicts", "What limits each combination.", to_html(verdicts), Page::Width::kFull);
}

void add_figures(const BenchReport& report, Page& page) {
  Table table{"Every combination",
              {"combination", "fps", "p10 to p90", "ms a frame", "model ms", "p99/p50", "CPU ms",
               "memory MB", "start s", "frames", "dropped"},
              {}};
  for (const BenchResult& result : report.results) {
    const auto& spread = result.fps_spread;
    table.rows.push_back(
        {title(result), fmt::format("{:.1f}", result.stats.classified_fps),
         spread ? fmt::format("{:.1f} to {:.1f}", spread->low, spread->high) : "",
         fmt::format("{:.1f}", total_ms(result)),
         fmt::format("{:.1f}", to_ms(result.stats.inference.p50)),
         fmt::format("{:.2f}", jitter(result)), fmt::format("{:.1f}", result.cpu_ms),
         fmt::format("{:.0f}", result.resident_mb), fmt::format("{:.2f}", result.start_s),
         std::to_string(result.stats.classified), std::to_string(result.stats.dropped)});
  }
  page.add_part("Figures",
                "Milliseconds a frame are 1000 / fps, model ms the median of inference, p99/p50 "
                "the jitter of a frame's latency.",
                to_html(table), Page::Width::kFull);
}

void add_devices(const BenchReport& report, Page& page) {
  Table table{"Device, a frame",
              {"combination", "device", "calls on it", "calls fallen back", "bytes moved",
               "fallback, % of the time"},
              {}};
  for (const BenchResult& result : report.results) {
    Row row{title(result)};
    for (std::string& figure : device_figures(result)) row.push_back(std::move(figure));
    table.rows.push_back(std::move(row));
  }
  page.add_part("Device",
                "Calls of operators that the device has, and of those that the processor ran in "
                "its place.",
                to_html(table), Page::Width::kFull);
}

void add_stages(const BenchReport& report, Page& page) {
  std::string html = "<div class=\"classes\">\n";
  for (const BenchResult& result : report.results) {
    const StatsSnapshot& stats = result.stats;
    html += to_html(Table{title(result),
                          {"ms", "p50", "p95", "p99", "max"},
                          {row_of("capture", stats.capture), row_of("preprocess", stats.preprocess),
                           row_of("inference", stats.inference), row_of("total", stats.total),
                           row_of("frame age", stats.frame_age)}});
  }
  page.add_part("Stages", "Percentiles of each stage of a frame, in milliseconds.",
                html + "</div>\n", Page::Width::kFull);
}

void add_states(const BenchReport& report, Page& page) {
  Table table{"Before → after", {"combination", "temperature", "clock", "throttling"}, {}};
  for (const BenchResult& result : report.results) {
    Row row{title(result)};
    for (std::string& change : state_changes(result)) row.push_back(std::move(change));
    table.rows.push_back(std::move(row));
  }
  page.add_part("Temperature, clock and throttling", "", to_html(table), Page::Width::kFull);
}

void add_models(const BenchReport& report, Page& page) {
  std::set<std::string> seen;
  for (const BenchResult& result : report.results) {
    const BenchModel& model = result.model;
    if (!seen.insert(model.file).second) continue;
    page.add_part("Model " + model.name, "",
                  to_html(Facts{{"archive", model.file},
                                {"sha256", model.sha256},
                                {"input", model.input},
                                {"activations", model.activations},
                                {"kernels", model.kernels},
                                {"engine", model.engine},
                                {"quantization", model.quantization},
                                {"producer", model.producer},
                                {"trained", model.trained ? "yes" : "no: random weights"},
                                {"operators of", joined(model.operators, "; ")}}));
  }
}

}  // namespace

std::string to_html(const BenchReport& report, const std::string& made_by) {
  const BenchMachine& machine = report.machine;
  const SystemInfo& system = machine.system;
  const std::string title = system.board.empty() ? system.cpu : system.board;
  Page page("lookout bench", title.empty() ? machine.kind : title,
            report.results.empty() ? "" : report.results.front().source);
  const std::string interrupted = interruption(report);
  if (!report.results.empty()) page.add_top(tiles(report));
  if (!interrupted.empty()) page.add_warning(interrupted);
  if (!report.results.empty()) {
    add_rates(report, page);
    add_times(report, page);
    add_verdicts(report, page);
    add_figures(report, page);
    if (have_device(report.results)) add_devices(report, page);
    add_stages(report, page);
    add_states(report, page);
    add_models(report, page);
  }
  page.add_part(
      "Machine", "",
      to_html(machine_facts(system, machine.kind, machine.processors, libraries(report))));
  return page.to_html(made_by);
}

}  // namespace lookout
