// lookout eval: its flags.
#include <fmt/format.h>

#include <memory>

#include "app/options/commands.h"
#include "app/options/settings.h"
#include "pipeline/core/error.h"

namespace lookout {

void add_eval(CommandLine& line, Action<EvalOptions> action) {
  struct State {
    EvalOptions options;
    Settings settings;
  };
  const auto state = std::make_shared<State>();
  EvalOptions& options = state->options;
  declare(state->settings, options.model);
  declare(state->settings, options.results);
  declare(state->settings, options.log);

  Command& eval = line.add("eval", "Measure the accuracy of a model on labelled pictures");
  eval.examples("lookout eval pictures --model garage.pt --report eval.html");
  eval.add_positional("DIR", text(options.folder, "DIR"),
                      "Folder with a folder of pictures for each class, named by its label, its "
                      "index, or WordNet's number and label (n01443537_goldfish)",
                      /*required=*/true);
  eval.add_flag("--labels-csv", text(options.labels_csv, "FILE"),
                "Lines of file,label instead; files are relative to DIR");
  for (const char* key : {"file", "labels", "operators", "threads", "workers"}) {
    eval.add_flag_of(state->settings, "model", key);
  }
  add_input_flags(eval, state->settings);
  const Setting& kind = *state->settings.find("model", "output");
  eval.add_flag("--model-output", kind.value, kind.help, "Model");
  eval.add_flag("--sha256", hashes(options.model.sha256),
                "Accept only a model file with one of these SHA-256 hashes");
  eval.add_flag_of(state->settings, "results", "format");
  eval.add_flag("--output", text(options.output, "FILE"), "Also write the results as JSON");
  eval.add_flag("--report", report_file(options.report, {".html"}),
                "Also write a page with charts and the worst classes' pictures, FILE.html");
  eval.add_flag_of(state->settings, "log", "level");
  eval.check([state] {
    const std::string& file = state->options.output;
    if (file == "logits" || file == "probabilities" || file == "sigmoid") {
      throw Error(
          ErrorKind::kUsage,
          fmt::format("--output names the file for the results: --model-output {0} says what "
                      "the model gives, --output ./{0} is a file",
                      file));
    }
    check_workers(state->options.model, {Origin::Place::kCommandLine, "--workers"});
  });
  eval.run([state, action = std::move(action)] { return action(state->options); });
}

}  // namespace lookout
