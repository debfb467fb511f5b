// lookout inspect and lookout trace-summary: their flags.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "app/options/commands.h"
#include "app/options/settings.h"
#include "platform/system/parse_number.h"

namespace lookout {
namespace {

// "p99.5", "40ms" or "1.5s".
std::optional<OutlierRule> parse_outliers(std::string_view text) {
  OutlierRule rule;
  if (text.substr(0, 1) == "p") {
    const auto percentile = parse_number<double>(text.substr(1));
    if (!percentile || !(*percentile > 0 && *percentile <= 100)) return std::nullopt;
    rule.percentile = *percentile;
    return rule;
  }
  for (const auto& [unit, ns] : {std::pair("ms", 1e6), std::pair("s", 1e9)}) {
    const std::size_t length = std::string_view(unit).size();
    if (text.size() <= length || text.substr(text.size() - length) != unit) continue;
    const auto number = parse_number<double>(text.substr(0, text.size() - length));
    constexpr double kMaxNs = 1e15;
    if (!number || !(*number > 0 && *number * ns <= kMaxNs)) continue;
    rule.time = std::chrono::nanoseconds(std::llround(*number * ns));
    return rule;
  }
  return std::nullopt;
}

Value outlier_rule(OutlierRule& member) {
  Value value;
  value.set = [&member](const std::string& text) {
    const auto rule = parse_outliers(text);
    if (rule) member = *rule;
    return rule.has_value();
  };
  value.expected = "a percentile or a time, as in p99, p99.5, 40ms or 1.5s";
  value.placeholder = "PERCENTILE|TIME";
  value.default_text = fmt::format("p{:g}", member.percentile);
  return value;
}

}  // namespace

void add_inspect(CommandLine& line, Action<InspectOptions> action) {
  const auto options = std::make_shared<InspectOptions>();
  Settings settings;
  declare(settings, options->model);
  Command& inspect = line.add("inspect", "Describe a model file, without running it");
  inspect.examples(
      "lookout inspect garage.pt\n"
      "lookout inspect garage.pt --run");
  inspect.add_positional("MODEL,--model", text(options->model.file, "FILE"),
                         "Model file, TorchScript or ONNX; default: the installed one");
  inspect.add_flag_of(settings, "model", "labels");
  add_input_flags(inspect, settings);
  inspect.add_flag_of(settings, "model", "output");
  inspect.add_flag(
      "--operators", files(options->model.operators),
      "With --run: libraries with custom operators that the model needs. A library is code that "
      "runs with your rights");
  inspect.add_flag(
      "--run", boolean(options->run),
      "Also load and run the model, to tell its parameters and kernels. Loading a model "
      "runs code: do so only with a model that you trust");
  inspect.add_flag("--code", boolean(options->code),
                   "Show the code of a TorchScript archive instead, without running it");
  inspect.add_flag("--graph", boolean(options->graph),
                   "Show the nodes of an ONNX model instead, without running it");
  inspect.add_flag(
      "--device", text(options->model.device.name, "NAME"),
      "Also run one frame on a custom device, to tell which operators it takes and which fall "
      "back to the CPU; meter: to tell what the model costs. This runs the model, as --run does");
  inspect.add_flag("--device-plugin", text(options->model.device.plugin, "FILE"),
                   "Library of the custom device; default: liblookout-NAME.so beside the engine");
  inspect.add_flag("--device-fallback", fallback_value(options->model.device.forbid_fallback),
                   "Whether operators without a kernel for the custom device may run on the CPU");
  inspect.add_flag("--format", format_value(options->format), "How the report is written");
  inspect.run([options, action = std::move(action)] { return action(*options); });
}

void add_trace_summary(CommandLine& line, Action<TraceSummaryOptions> action) {
  const auto options = std::make_shared<TraceSummaryOptions>();
  Command& summary = line.add("trace-summary", "Show where the time went in a trace of --trace");
  summary.examples("lookout trace-summary trace.json --report trace.html");
  summary.add_positional("FILE", repeated_files(options->files),
                         "A file that --trace wrote, or one that PyTorch's profiler exported; "
                         "several, as of several boards, are shown side by side",
                         /*required=*/true);
  summary.add_flag("--format", format_value(options->format), "How the summary is written");
  summary.add_flag(
      "--outliers-above", outlier_rule(options->outliers),
      "From which time on a frame counts as unusually slow; the summary shows what took longer "
      "in such frames");
  summary.add_flag(
      "--compare", boolean(options->compare),
      "With two files, before and after a change: which stages and operators are slower, "
      "faster, added or gone, with intervals");
  summary.add_flag("--report", report_file(options->html, {".html"}),
                   "Also write the summary as a page with charts");
  summary.run([options, action = std::move(action)] { return action(*options); });
}

}  // namespace lookout
