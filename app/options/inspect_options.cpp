// lookout inspect and lookout trace-summary: their flags.
#include <memory>

#include "app/options/commands.h"
#include "app/options/settings.h"

namespace lookout {

void add_inspect(CommandLine& line, Action<InspectOptions> action) {
  const auto options = std::make_shared<InspectOptions>();
  Command& inspect = line.add("inspect", "Describe a model, without running it");
  inspect.add_positional("model,--model", text(options->model.file, "FILE"),
                         "TorchScript archive or ONNX model");
  inspect.add_flag("--labels", text(options->model.labels, "FILE"),
                   "File with one label a line, instead of the model's own");
  inspect.add_flag(
      "--operators", files(options->model.operators),
      "With --run, libraries with operators that the model needs beyond its engine's; a "
      "library is code, which runs with your rights");
  inspect.add_flag("--run", boolean(options->run),
                   "Also load and run the model, to tell its parameters and kernels. An archive is "
                   "a program that runs with your rights: do so only with one that you trust");
  inspect.add_flag("--format", format_value(options->format), "How the report is written");
  inspect.run([options, action = std::move(action)] { return action(*options); });
}

void add_trace_summary(CommandLine& line, Action<TraceSummaryOptions> action) {
  const auto options = std::make_shared<TraceSummaryOptions>();
  Command& summary = line.add("trace-summary", "Show where the time went in a trace of --trace");
  summary.add_positional("file,--file", text(options->file, "FILE"), "A file that --trace wrote",
                         /*required=*/true);
  summary.add_flag("--format", format_value(options->format), "How the summary is written");
  summary.run([options, action = std::move(action)] { return action(*options); });
}

}  // namespace lookout
