#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "app/bench/bench_result.h"
#include "app/report/charts.h"
#include "app/report/html.h"
#include "app/report/machine_facts.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

std::string counted(int number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string threads(const BenchResult& result) {
  return fmt::format("{}{}", result.auto_threads ? "auto: " : "", result.threads);
}

std::string number_or(const std::optional<double>& number, const char* unit) {
  return number ? fmt::format("{:.0f} {}", *number, unit) : "not told";
}

std::string throttling_of(const MachineState& state) {
  if (!state.throttled) return "not told";
  const auto words = throttling_words(*state.throttled);
  if (!words.empty()) return joined(words, ", ");
  return state.voltage_alone ? "no under-voltage" : "none";
}

using Stages = std::vector<std::pair<const char*, Percentiles>>;

Stages stages_of(const StatsSnapshot& stats) {
  return {{"capture", stats.capture},
          {"preprocess", stats.preprocess},
          {"inference", stats.inference},
          {"total", stats.total},
          {"frame age", stats.frame_age}};
}

std::string ms_text(Clock::duration time) { return fmt::format("{:.1f}", to_ms(time)); }

// A table with a row for each combination, whose first columns tell which it is.
Table combinations_table(const BenchReport& bench, const char* caption, std::vector<Column> figures,
                         const std::function<Row(const BenchResult&)>& figures_of) {
  Table table{caption,
              {{"combination", Shown::kHtml},
               {"model", Shown::kTexts},
               {"threads", Shown::kTexts},
               {"workers", Shown::kTexts}},
              {}};
  table.head.insert(table.head.end(), figures.begin(), figures.end());
  for (const BenchResult& result : bench.results) {
    table.rows.push_back({title(result), result.model.text("name"), threads(result),
                          std::to_string(result.workers)});
    Row row = figures_of(result);
    table.rows.back().insert(table.rows.back().end(), row.begin(), row.end());
  }
  return table;
}

std::vector<Tile> tiles(const BenchReport& bench) {
  const std::vector<BenchResult>& all = bench.results;
  const BenchResult& fast = *std::max_element(all.begin(), all.end(), [](auto& a, auto& b) {
    return a.stats.classified_fps < b.stats.classified_fps;
  });
  const BenchResult& quick = *std::min_element(all.begin(), all.end(), [](auto& a, auto& b) {
    return a.stats.total.p50 < b.stats.total.p50;
  });
  const std::string& board = bench.machine.system.board;
  return {{"highest rate", fmt::format("{:.1f} fps", fast.stats.classified_fps), title(fast)},
          {"lowest latency", ms_text(quick.stats.total.p50) + " ms", "median; " + title(quick)},
          {"its p99", ms_text(quick.stats.total.p99) + " ms",
           fmt::format("jitter (p99/p50) {:.2f}", jitter(quick))},
          {"combinations", std::to_string(all.size()), board.empty() ? bench.machine.kind : board}};
}

Part rates(const BenchReport& bench) {
  std::vector<Bar> bars;
  for (const BenchResult& result : bench.results) {
    const double fps = result.stats.classified_fps;
    bars.push_back({title(result), fmt::format("{:.1f} fps", fps), {fps}, std::nullopt});
    const auto& spread = result.fps_spread;
    if (spread) bars.back().spread = {spread->low, spread->high};
  }
  return {"Rates",
          "Frames classified per second. The line over a bar: the rates of single seconds, "
          "without the lowest and the highest tenth of them.",
          {Chart{bar_chart(bars, std::vector{Color::kBlue})}}};
}

Part times(const BenchReport& bench) {
  std::vector<Bar> bars;
  for (const BenchResult& result : bench.results) {
    const StatsSnapshot& stats = result.stats;
    bars.push_back(
        {title(result),
         fmt::format("{} ms, p99 {}", ms_text(stats.total.p50), ms_text(stats.total.p99)),
         {to_ms(stats.capture.p50), to_ms(stats.preprocess.p50), to_ms(stats.inference.p50)},
         std::pair(to_ms(stats.total.p50), to_ms(stats.total.p99))});
  }
  const Legend stages{
      {Color::kPale, "capture"}, {Color::kSky, "preprocess"}, {Color::kBlue, "inference"}};
  return {"Time of a frame",
          "Medians of the stages. The line over a bar: the latency, from its median to its 99th "
          "percentile.",
          {Chart{bar_chart(bars, stages)}}};
}

Part verdicts(const BenchReport& bench) {
  Statements verdicts;
  for (const BenchResult& result : bench.results) {
    verdicts.facts.emplace_back(title(result), verdict(result, bench.results));
  }
  return {"Verdicts", "What limits each combination.", {verdicts}, Width::kFull};
}

Part figures(const BenchReport& bench) {
  const auto figures_of = [](const BenchResult& result) -> Row {
    const auto& spread = result.fps_spread;
    return {fmt::format("{:.1f}", result.stats.classified_fps),
            spread ? fmt::format("{:.1f} to {:.1f}", spread->low, spread->high) : "",
            fmt::format("{:.1f}", total_ms(result)),
            ms_text(result.stats.inference.p50),
            fmt::format("{:.2f}", jitter(result)),
            fmt::format("{:.1f}", result.cpu_ms),
            fmt::format("{:.0f}", result.wakeups_per_s),
            fmt::format("{:.0f}", result.resident_mb),
            fmt::format("{:.2f}", result.start_s),
            std::to_string(result.stats.classified),
            std::to_string(result.stats.dropped)};
  };
  return {"Figures",
          "Milliseconds a frame are 1000 / fps, model ms the median of inference, p99/p50 the "
          "jitter of a frame's latency, wake-ups how often a thread waited.",
          {combinations_table(bench, "Every combination",
                              {"fps",
                               {"p10 to p90", Shown::kHtml},
                               "ms a frame",
                               "model ms",
                               "p99/p50",
                               "CPU ms",
                               "wake-ups/s",
                               "memory MB",
                               "start s",
                               {"frames", Shown::kFiles},
                               {"dropped", Shown::kFiles}},
                              figures_of)},
          Width::kFull};
}

Part still_scenes(const BenchReport& bench) {
  const auto row_of_result = [](const BenchResult& result) -> Row {
    if (!result.still) return {"", "", "", "", ""};
    const StillFigures figures = figures_of(*result.still);
    return {fmt::format("{:.2f}", figures.median.cpu_ms_without),
            fmt::format("{:.2f}", figures.median.cpu_ms_with),
            fmt::format("{:.3f} ({:.3f} to {:.3f})", figures.ratio, figures.min_ratio,
                        figures.max_ratio),
            fmt::format("{:.1f}", 100 * figures.median.reused),
            std::to_string(result.still->pairs.size())};
  };
  return {"Still scene",
          "CPU ms of a frame when every frame is classified, and when results are reused while "
          "nothing moves: medians of pairs of one run, and the ratio of a pair.",
          {combinations_table(
              bench, "Without and with reused results",
              {"CPU ms without", "CPU ms with", "ratio (min to max)", "% reused", "pairs"},
              row_of_result)},
          Width::kFull};
}

Part devices(const BenchReport& bench) {
  const auto figures_of = [](const BenchResult& result) -> Row {
    const BenchDevice device = result.device.value_or(BenchDevice());
    return {device.name, std::to_string(device.calls), std::to_string(device.fallback_calls),
            std::to_string(device.bytes_moved), fmt::format("{:.1f}", 100 * device.fallback_share)};
  };
  return {"Device",
          "Calls of operators that the device has, and of those that the processor ran in its "
          "place.",
          {combinations_table(bench, "Device, a frame",
                              {"device", "calls on it", "calls fallen back", "bytes moved",
                               "fallback, % of the time"},
                              figures_of)},
          Width::kFull};
}

// A page has a table of each combination, a text one table of all.
Part stages(const BenchReport& bench) {
  Chart tables{"<div class=\"classes\">\n"};
  for (const BenchResult& result : bench.results) {
    Table table{title(result), {"ms", "p50", "p95", "p99", "max"}, {}};
    for (const auto& [name, times] : stages_of(result.stats))
      table.rows.push_back(row_of(name, times));
    tables.html += to_html(table);
  }
  tables.html += "</div>\n";
  const auto figures_of = [](const BenchResult& result) {
    Row row;
    for (const auto& [name, times] : stages_of(result.stats)) row.push_back(to_text(times));
    return row;
  };
  std::vector<Column> names;
  for (const auto& [name, times] : stages_of({})) names.emplace_back(name);
  return {
      "Stages",
      "Percentiles of each stage of a frame, in milliseconds.",
      {tables, {combinations_table(bench, "ms p50/p95/p99/max", names, figures_of), Shown::kTexts}},
      Width::kFull};
}

Part states(const BenchReport& bench) {
  const auto figures_of = [](const BenchResult& result) -> Row {
    const auto change = [](const std::string& before, const std::string& after) {
      return before == after ? before : before + " → " + after;
    };
    const MachineState& before = result.before;
    const MachineState& after = result.after;
    const std::string temperature =
        change(number_or(before.temperature, "°C"), number_or(after.temperature, "°C"));
    const auto& max = result.max_temperature;
    return {max ? fmt::format("{}, at most {:.0f} °C", temperature, *max) : temperature,
            change(number_or(before.clock_mhz, "MHz"), number_or(after.clock_mhz, "MHz")),
            change(throttling_of(before), throttling_of(after))};
  };
  const bool told = std::any_of(bench.results.begin(), bench.results.end(),
                                [](auto& result) { return result.pace && result.max_temperature; });
  return {"Temperature, clock and throttling",
          "",
          {{combinations_table(bench, "Before → after", {"temperature", "clock", "throttling"},
                               figures_of),
            told ? Shown::kEverywhere : Shown::kFiles}},
          Width::kFull};
}

}  // namespace

std::string title(const BenchResult& result) {
  return fmt::format("{}, {}{}, {}{}", result.model.text("name"),
                     result.auto_threads ? "auto: " : "", counted(result.threads, "thread"),
                     counted(result.workers, "worker"), result.complete ? "" : ", interrupted");
}

Report make_report(const BenchReport& bench) {
  const BenchMachine& machine = bench.machine;
  const std::string& board = machine.system.board;
  const std::string& cpu = machine.system.cpu;
  const bool empty = bench.results.empty();
  Report report;
  report.kind = "lookout bench";
  report.title = !board.empty() ? board : cpu.empty() ? machine.kind : cpu;
  report.note = empty ? "Nothing was measured." : bench.results.front().source;
  report.head = {
      fmt::format("{}{}{}, {}, {}{}{}", board, board.empty() ? "" : ", ",
                  cpu.empty() ? "unknown processor" : cpu, counted(machine.processors, "processor"),
                  machine.kind, empty ? "" : "; ", libraries(bench)),
      empty ? "nothing was measured" : report.note};
  const std::string interrupted = interruption(bench);
  if (!interrupted.empty()) report.warnings = {interrupted};
  if (!empty) {
    report.tiles = tiles(bench);
    report.tiles_shown = Shown::kHtml;
    report.parts = {rates(bench), times(bench), verdicts(bench), figures(bench)};
    const auto has_device = [](const BenchResult& result) { return result.device.has_value(); };
    if (std::any_of(bench.results.begin(), bench.results.end(), has_device)) {
      report.parts.push_back(devices(bench));
    }
    const auto has_still = [](const BenchResult& result) { return result.still.has_value(); };
    if (std::any_of(bench.results.begin(), bench.results.end(), has_still)) {
      report.parts.push_back(still_scenes(bench));
    }
    report.parts.push_back(stages(bench));
    report.parts.push_back(states(bench));
  }
  std::set<std::string> seen;
  for (const BenchResult& result : bench.results) {
    const BenchModel& model = result.model;
    if (!seen.insert(model.text("file")).second) continue;
    report.parts.push_back({"Model " + model.text("name"), "", {{model.facts, Shown::kFiles}}});
  }
  Facts facts = machine_facts(machine.system, machine.kind, machine.processors, libraries(bench));
  const Block machine_block{facts, Shown::kHtml};
  facts.insert(facts.end(), {{"lookout", machine.lookout},
                             {"cooling, power supply, camera", "(please fill in)"}});
  report.parts.push_back({"Machine", "", {machine_block, {facts, Shown::kMarkdown}}});
  report.json = [&bench] { return to_json(bench); };
  return report;
}

}  // namespace lookout
