#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "app/bench/bench_result.h"
#include "pipeline/core/append_format.h"
#include "pipeline/results/format.h"
#include "pipeline/results/statistics.h"

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

std::string throttling_or(const std::optional<std::uint32_t>& bits) {
  if (!bits) return "not told";
  const auto words = throttling_words(*bits);
  return words.empty() ? "none" : joined(words, ", ");
}

std::string processor(const BenchMachine& machine) {
  const std::string& cpu = machine.system.cpu;
  return fmt::format("{}, {}", cpu.empty() ? "unknown processor" : cpu,
                     counted(machine.processors, "processor"));
}

std::size_t max_name_size(const BenchReport& report) {
  std::size_t size = std::string_view("model").size();
  for (const BenchResult& result : report.results) {
    size = std::max(size, printable(result.model.name).size());
  }
  return size;
}

// ---- Markdown

// A text that does not end a cell of a table.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void append_row(const std::vector<std::string>& cells, std::string& out) {
  out += '|';
  for (const std::string& cell : cells) append_format(out, " {} |", escaped(cell));
  out += '\n';
}

void append_head(const std::vector<std::string>& names, std::string& out) {
  append_row(names, out);
  append_row(std::vector<std::string>(names.size(), "---"), out);
}

void append_machine(const BenchMachine& machine, std::string& out) {
  const SystemInfo& system = machine.system;
  const auto row = [&out](const char* key, const std::string& value) {
    append_row({key, value.empty() ? "unknown" : value}, out);
  };
  append_head({"what", "value"}, out);
  row("kind of figures", "measured on a " + machine.kind);
  row("board", system.board);
  row("processor", processor(machine));
  row("memory", system.memory_kb ? fmt::format("{} MB", *system.memory_kb / 1024) : "");
  row("cooling, power supply, camera", "(please fill in)");
  row("system", system.system);
  row("kernel", system.kernel);
  row("governor, highest clock",
      fmt::format("{}, {}", system.governor.empty() ? "not told" : system.governor,
                  number_or(system.highest_clock_mhz, "MHz")));
  row("lookout", machine.lookout);
}

void append_models(const std::vector<BenchResult>& results, std::string& out) {
  append_head({"model", "archive", "sha256", "input", "activations", "kernels", "engine", "library",
               "quantization", "producer", "trained", "operators of"},
              out);
  std::vector<std::string> seen;
  for (const BenchResult& result : results) {
    const BenchModel& model = result.model;
    if (std::find(seen.begin(), seen.end(), model.file) != seen.end()) continue;
    seen.push_back(model.file);
    append_row({model.name, model.file, model.sha256, model.input, model.activations, model.kernels,
                model.engine, model.library, model.quantization, model.producer,
                model.trained ? "yes" : "no", joined(model.operators, "; ")},
               out);
  }
}

std::vector<std::string> identity(const BenchResult& result) {
  return {result.model.name, threads(result), std::to_string(result.workers)};
}

std::vector<std::string> with(std::vector<std::string> first,
                              const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void append_rates(const std::vector<BenchResult>& results, std::string& out) {
  append_head({"model", "threads", "workers", "FPS", "total time (ms/frame)",
               "model time (ms/frame)", "jitter (p99/p50)", "CPU time (ms/frame)", "memory (MB)",
               "cold start (s)", "frames", "dropped"},
              out);
  for (const BenchResult& result : results) {
    const StatsSnapshot& stats = result.stats;
    append_row(
        with(identity(result),
             {fmt::format("{:.1f}", stats.classified_fps), fmt::format("{:.1f}", total_ms(result)),
              fmt::format("{:.1f}", to_ms(stats.inference.p50)),
              fmt::format("{:.2f}", jitter(result)), fmt::format("{:.1f}", result.cpu_ms),
              fmt::format("{:.0f}", result.resident_mb), fmt::format("{:.2f}", result.start_s),
              std::to_string(stats.classified), std::to_string(stats.dropped)}),
        out);
  }
}

void append_devices(const std::vector<BenchResult>& results, std::string& out) {
  append_head({"model", "threads", "workers", "device", "calls on it", "calls fallen back",
               "bytes moved", "fallback, % of the time"},
              out);
  for (const BenchResult& result : results) {
    append_row(with(identity(result), device_figures(result)), out);
  }
}

void append_stages(const std::vector<BenchResult>& results, std::string& out) {
  append_head(
      {"model", "threads", "workers", "capture", "preprocess", "inference", "total", "frame age"},
      out);
  for (const BenchResult& result : results) {
    const StatsSnapshot& stats = result.stats;
    append_row(with(identity(result),
                    {to_text(stats.capture), to_text(stats.preprocess), to_text(stats.inference),
                     to_text(stats.total), to_text(stats.frame_age)}),
               out);
  }
}

void append_states(const std::vector<BenchResult>& results, std::string& out) {
  append_head({"model", "threads", "workers", "temperature", "clock", "throttling"}, out);
  for (const BenchResult& result : results) {
    append_row(with(identity(result), state_changes(result)), out);
  }
}

std::string device_cells(const std::optional<BenchDevice>& device) {
  if (!device) return {};
  return fmt::format(" {:>7} {:>8} {:>8.1f}", device->calls, device->fallback_calls,
                     100 * device->fallback_share);
}

}  // namespace

void disambiguate_names(std::vector<BenchResult>& results) {
  std::map<std::string, std::set<std::filesystem::path>> files;  // of each name
  for (const BenchResult& result : results) files[result.model.name].insert(result.model.file);
  for (BenchResult& result : results) {
    const auto& all = files[result.model.name];
    if (all.size() < 2) continue;
    const std::filesystem::path file = result.model.file;
    const auto alike = std::count_if(all.begin(), all.end(), [&file](const auto& other) {
      return other.filename() == file.filename();
    });
    result.model.name += fmt::format(" ({})", (alike > 1 ? file : file.filename()).string());
  }
}

bool have_device(const std::vector<BenchResult>& results) {
  return std::any_of(results.begin(), results.end(),
                     [](const BenchResult& result) { return result.device.has_value(); });
}

std::vector<std::string> device_figures(const BenchResult& result) {
  const BenchDevice device = result.device.value_or(BenchDevice());
  return {device.name, std::to_string(device.calls), std::to_string(device.fallback_calls),
          std::to_string(device.bytes_moved), fmt::format("{:.1f}", 100 * device.fallback_share)};
}

std::string title(const BenchResult& result) {
  return fmt::format("{}, {}{}, {}{}", result.model.name, result.auto_threads ? "auto: " : "",
                     counted(result.threads, "thread"), counted(result.workers, "worker"),
                     result.complete ? "" : ", interrupted");
}

std::vector<std::string> state_changes(const BenchResult& result) {
  const auto change = [](const std::string& before, const std::string& after) {
    return before == after ? before : before + " → " + after;
  };
  const MachineState& before = result.before;
  const MachineState& after = result.after;
  return {change(number_or(before.temperature, "°C"), number_or(after.temperature, "°C")),
          change(number_or(before.clock_mhz, "MHz"), number_or(after.clock_mhz, "MHz")),
          change(throttling_or(before.throttled), throttling_or(after.throttled))};
}

std::string to_text(const BenchReport& report) {
  const BenchMachine& machine = report.machine;
  const std::string& board = machine.system.board;
  std::string text = fmt::format("{}{}{}, {}", printable(board), board.empty() ? "" : ", ",
                                 printable(processor(machine)), machine.kind);
  if (report.results.empty()) return text + "\nnothing was measured\n";
  text += fmt::format("; {}\n", libraries(report));
  append_format(text, "{}\n", printable(report.results.front().source));
  const std::string interrupted = interruption(report);
  if (!interrupted.empty()) append_format(text, "{}\n", interrupted);
  text += '\n';
  const std::size_t width = max_name_size(report);
  const bool device = have_device(report.results);
  append_format(text, "{:<{}} {:>7} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>6} {:>7}{}\n", "", width,
                "", "", "", "total", "model", "jitter", "CPU", "", "cold",
                device ? "  device fallback fallback" : "");
  append_format(text, "{:<{}} {:>7} {:>7} {:>7} {:>8} {:>8} {:>7} {:>7} {:>6} {:>7}{}\n", "model",
                width, "threads", "workers", "fps", "ms", "ms", "p99/p50", "ms", "MB", "start s",
                device ? "   calls    calls   time %" : "");
  for (const BenchResult& result : report.results) {
    append_format(text,
                  "{:<{}} {:>7} {:>7} {:>7.1f} {:>8.2f} {:>8.2f} {:>7.2f} {:>7.1f} {:>6.0f} "
                  "{:>7.2f}{}\n",
                  printable(result.model.name), width, threads(result), result.workers,
                  result.stats.classified_fps, total_ms(result), to_ms(result.stats.inference.p50),
                  jitter(result), result.cpu_ms, result.resident_mb, result.start_s,
                  device_cells(result.device));
  }
  for (const BenchResult& result : report.results) {
    const StatsSnapshot& stats = result.stats;
    append_format(text,
                  "\n{}: {}\n  ms p50/p95/p99/max: capture {}, preprocess {}, inference {}, "
                  "total {}\n",
                  printable(title(result)), verdict(result, report.results), to_text(stats.capture),
                  to_text(stats.preprocess), to_text(stats.inference), to_text(stats.total));
  }
  return text;
}

std::string to_markdown(const BenchReport& report) {
  std::string out = "# lookout bench\n\n";
  append_machine(report.machine, out);
  if (report.results.empty()) return out + "\nNothing was measured.\n";
  append_format(out, "\nSource: {}.\n", printable(report.results.front().source));
  const std::string interrupted = interruption(report);
  if (!interrupted.empty()) append_format(out, "\n**{}**\n", interrupted);
  out += "\n## Models\n\n";
  append_models(report.results, out);
  out += "\n## Rates\n\n";
  append_rates(report.results, out);
  out += "\nTotal time is 1000 / FPS, model time the median of inference, jitter that of total.\n";
  if (have_device(report.results)) {
    out += "\n## Device, a frame\n\n";
    append_devices(report.results, out);
  }
  out += "\n## Latency, ms: p50/p95/p99/max\n\n";
  append_stages(report.results, out);
  out += "\n## Temperature, clock and throttling, before → after\n\n";
  append_states(report.results, out);
  out += "\n## Verdicts\n\n";
  for (const BenchResult& result : report.results) {
    append_format(out, "- {}: {}\n", printable(title(result)), verdict(result, report.results));
  }
  return out;
}

}  // namespace lookout
