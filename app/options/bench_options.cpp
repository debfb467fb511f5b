// lookout bench: its flags.
#include <memory>

#include "app/options/commands.h"
#include "app/options/settings.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/error.h"

namespace lookout {
namespace {

constexpr int kMaxThreads = 64;
constexpr int kMaxWorkers = 64;

void add_measured(Command& bench, BenchOptions& options) {
  bench.add_flag("--model", repeated_files(options.models), "Model to measure; may be repeated");
  Value threads =
      numbers(options.threads, 1, kMaxThreads, "threads", ClassifierOptions::kAutoThreads);
  threads.default_text = "1,2,4 as far as there are processors";
  bench.add_flag("--threads", threads,
                 "Threads per inference, each number in turn; auto: measured at the start");
  bench.add_flag("--workers", numbers(options.workers, 1, kMaxWorkers, "workers"),
                 "Frames classified at the same time, each number in turn, with one thread each");
  bench.add_flag("--frames", number(options.frames, 0, 1e9),
                 "End each measurement after this many frames; 0: by its time");
  bench.add_flag("--sha256", hashes(options.model.sha256),
                 "Accept only model files with one of these SHA-256 hashes");
  const std::string hidden;
  bench.add_flag("--combination", number(options.combination, 0, 1e6), "", hidden);
  bench.add_flag("--report", report_file(options.report, {".html", ".md"}),
                 "Also write a report with what is needed to compare the figures: FILE.html with "
                 "charts, FILE.md as Markdown");
}

}  // namespace

void add_bench(CommandLine& line, Action<BenchOptions> action) {
  struct State {
    BenchOptions options;
    Settings settings;
  };
  const auto state = std::make_shared<State>();
  BenchOptions& options = state->options;
  Settings& settings = state->settings;
  declare(settings, options.camera);
  declare(settings, options.model);
  declare(settings, options.results);
  declare(settings, options.log);

  Command& bench =
      line.add("bench", "Measure the speed of models, threads and workers on this machine");
  bench.examples("lookout bench --model mobilenet_v2.pt --report bench.html");
  bench.add_positional("SOURCE", source(options.camera.source),
                       "As for run. The first frames of files are read beforehand and replayed "
                       "as fast as they are classified");
  add_measured(bench, options);
  bench.add_flag_of(settings, "camera", "timeout",
                    "End each measurement after this time; 0: by its frames");
  for (const char* key : {"labels", "operators", "device", "device-plugin", "device-fallback"}) {
    bench.add_flag_of(settings, "model", key);
  }
  add_input_flags(bench, settings);
  bench.add_flag_of(settings, "model", "output");
  bench.add_flag_of(settings, "results", "format");
  bench.add_flag_of(settings, "log", "level");
  for (const char* key : {"width", "height", "framerate", "rotation", "roi"}) {
    bench.add_flag_of(settings, "camera", key);
  }
  bench.run([state, &bench, action = std::move(action)] {
    BenchOptions chosen = state->options;
    if (chosen.workers.empty()) chosen.workers = {1};
    if (chosen.frames > 0 && !bench.has("--timeout")) {
      chosen.camera.timeout = std::chrono::milliseconds(0);
    }
    if (chosen.frames == 0 && chosen.camera.timeout.count() == 0) {
      throw Error(ErrorKind::kUsage, "--timeout 0: --frames N is needed, or nothing ends it");
    }
    return action(chosen);
  });
}

}  // namespace lookout
