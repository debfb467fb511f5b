// lookout train and lookout collect: their flags.
#include <memory>

#include "app/options/commands.h"
#include "app/options/settings.h"

namespace lookout {
namespace {

constexpr int kMaxTrainingThreads = 64;

void add_view(Command& command, const Settings& settings) {
  for (const char* key : {"rotation", "roi"}) command.add_flag_of(settings, "camera", key);
}

}  // namespace

void add_train(CommandLine& line, Action<TrainOptions> action) {
  struct State {
    TrainOptions options;
    Settings settings;
  };
  const auto state = std::make_shared<State>();
  TrainOptions& options = state->options;
  options.model.threads = 1;
  declare(state->settings, options.camera);
  declare(state->settings, options.model);
  declare(state->settings, options.results);
  declare(state->settings, options.log);

  Command& train = line.add("train", "Make a model for classes of your own");
  train.examples("lookout train garage -o garage.pt --model mobilenet_v2.pt --report garage.html");
  train.add_positional("DIR", text(options.folder, "DIR"),
                       "Folder with a folder of pictures for each class, named by its label, and "
                       "perhaps _other: pictures of none of them",
                       /*required=*/true);
  train.add_flag("-o,--output", text(options.output, "FILE"), "The model to write");
  train.add_flag("--labels-csv", text(options.labels_csv, "FILE"),
                 "Lines of file,label instead; files are relative to DIR");
  train.add_flag("--other", text(options.other, "DIR"),
                 "Pictures of none of the classes: the threshold of \"unknown\" is chosen with "
                 "them, and how many become unknown is told");
  train.add_flag_of(state->settings, "model", "file",
                    "The base: a model whose last layer is replaced; default: the installed one");
  add_input_flags(train, state->settings);
  train.add_flag_of(state->settings, "model", "operators");
  train.add_flag("--sha256", hashes(options.model.sha256),
                 "Accept only a base with one of these SHA-256 hashes");
  train.add_flag("--mirror", boolean(options.mirror),
                 "Mirrored pictures are of the same class: train with these, too");
  train.add_flag("--equal", choice(options.equal_classes, {{"classes", true}, {"pictures", false}}),
                 "What weighs the same in the training: pictures make the model prefer classes "
                 "that have more of them");
  train.add_flag("--threads", number(options.model.threads, 1, kMaxTrainingThreads),
                 "Threads that the base computes with");
  add_view(train, state->settings);
  train.add_flag_of(state->settings, "results", "format");
  train.add_flag("--report", report_file(options.report, {".html"}),
                 "Also write a page with charts and the most doubtful pictures, FILE.html");
  train.add_flag_of(state->settings, "log", "level");
  train.check([state] {
    if (state->options.output.empty()) {
      throw Error(ErrorKind::kUsage, "-o FILE is required: the model to write");
    }
  });
  train.run([state, action = std::move(action)] { return action(state->options); });
}

void add_collect(CommandLine& line, Action<CollectOptions> action) {
  struct State {
    CollectOptions options;
    Settings settings;
  };
  const auto state = std::make_shared<State>();
  CollectOptions& options = state->options;
  declare(state->settings, options.camera);
  declare(state->settings, options.log);

  Command& collect = line.add("collect", "Take pictures to train with");
  collect.examples("lookout collect /dev/video0 garage --label open -t 1min");
  collect.add_positional("SOURCE", source(options.camera.source), "As for run", /*required=*/true);
  collect.add_positional("DIR", text(options.folder, "DIR"),
                         "Folder of the classes' folders; it is created if its parent exists",
                         /*required=*/true);
  collect.add_flag("--label", text(options.label, "LABEL"),
                   "What the pictures show: they are written into DIR/LABEL");
  collect.add_flag("--every", time_value(options.every),
                   "Time between two pictures; 0: each frame");
  collect.add_flag("--keep-similar", boolean(options.keep_similar),
                   "Also keep a picture that looks like the one before");
  collect.add_flag_of(state->settings, "camera", "timeout");
  for (const char* key : {"width", "height", "framerate"}) {
    collect.add_flag_of(state->settings, "camera", key);
  }
  collect.add_flag_of(state->settings, "log", "level");
  collect.check([state] {
    const std::string& label = state->options.label;
    if (label.empty())
      throw Error(ErrorKind::kUsage, "--label is required: what the pictures show");
    if (label.find('/') != std::string::npos || label.front() == '.') {
      throw Error(
          ErrorKind::kUsage,
          "--label " + label +
              ": a label becomes the name of a folder: it has no '/', and no '.' at its start");
    }
  });
  collect.run([state, action = std::move(action)] { return action(state->options); });
}

}  // namespace lookout
