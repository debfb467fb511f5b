// The sub-commands that measure: bench and eval.
#include "app/options/option_parts.h"
#include "pipeline/classifier.h"

namespace lookout {
namespace {

constexpr int kMostThreads = 64;
constexpr int kMostWorkers = 64;

}  // namespace

CLI::App* add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App* bench = app.add_subcommand("bench", "Measure models, threads and workers");
  RunOptions& run = options.run;
  bench
      ->add_option("SOURCE", run.camera.source,
                   "As that of run; of what is not live the first frames are read beforehand and "
                   "replayed as fast as they are taken")
      ->type_name("")
      ->capture_default_str();
  bench
      ->add_option("--model", options.models,
                   "TorchScript archive, as often as there are models to measure")
      ->type_name("FILE")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  add_labels(*bench, run.model.labels);
  add_numbers(
      *bench, "--threads", options.threads, 1, kMostThreads, "threads",
      "Threads that share a frame's computation, each number in turn; auto: measured at the "
      "start",
      ClassifierOptions::kAutoThreads)
      ->type_name("N|auto,...")
      ->default_str("1,2,4 as far as there are processors");
  add_numbers(*bench, "--workers", options.workers, 1, kMostWorkers, "workers",
              "Frames that are classified side by side, each number in turn, with one thread each")
      ->default_str("1");
  const CLI::Option* frames =
      bench
          ->add_option("--frames", options.frames,
                       "End each measurement after so many frames; 0: by its time")
          ->check(CLI::Range(0, 1'000'000'000).description(""))
          ->capture_default_str();
  const CLI::Option* timeout = add_time(
      *bench, "-t,--timeout", [&run](auto time) { run.camera.timeout = time; },
      "End each measurement after this time; 0: by its frames", "10s, with --frames 0");
  add_format(*bench, run.results.format);
  bench
      ->add_option("--report", options.report,
                   "Write a report, too, with all that makes the figures comparable, as Markdown")
      ->type_name("FILE");
  add_log_level(*bench, run.log.level);
  bench->add_option("--combination", options.combination)->group("");  // not in the help
  add_picture_options(*bench, run);
  bench->callback([&options, frames, timeout] {
    if (options.workers.empty()) options.workers = {1};
    if (options.frames > 0 && frames->count() > 0 && timeout->count() == 0) {
      options.run.camera.timeout = std::chrono::milliseconds(0);
    }
  });
  return bench;
}

CLI::App* add_eval(CLI::App& app, EvalOptions& options) {
  CLI::App* eval = app.add_subcommand("eval", "Count how often a model is right");
  RunOptions& run = options.run;
  eval->add_option("DIR", run.camera.source,
                   "Folder with a folder of pictures for each class, which is called as its label, "
                   "its index, or WordNet's number and label (n01443537_goldfish)")
      ->type_name("")
      ->required();
  eval->add_option("--labels-csv", options.labels_csv,
                   "Lines of file,label instead: files are looked for in DIR")
      ->type_name("FILE");
  add_model_options(*eval, run);
  add_format(*eval, run.results.format);
  eval->add_option("--output", options.output, "Write the results as JSON into this file, too")
      ->type_name("FILE");
  add_log_level(*eval, run.log.level);
  return eval;
}

}  // namespace lookout
