#include "app/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <variant>

#include "app/bench/bench_page.h"
#include "app/bench/bench_result.h"
#include "app/bench/measure.h"
#include "app/model/models.h"
#include "app/output/log.h"
#include "app/output/save_and_print.h"
#include "app/report/html.h"
#include "app/report/machine_facts.h"
#include "pipeline/archive/operator_library.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/run/open_model.h"
#include "platform/sources/open_source.h"
#include "platform/sources/source_uri.h"
#include "platform/system/process.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

// Each model with its file. Each gets the libraries of operators for its own engine.
std::vector<ModelOptions> options_of_models(const BenchOptions& options) {
  std::vector<ModelOptions> models(std::max<std::size_t>(1, options.models.size()), options.model);
  for (std::size_t i = 0; i < options.models.size(); ++i) models[i].file = options.models[i];
  if (models.size() == 1 || options.model.operators.empty()) return models;
  std::vector<Engine> engines;
  engines.reserve(models.size());
  for (const ModelOptions& model : models) engines.push_back(read_archive(model).engine());
  const auto is_first = [&engines](Engine engine) { return engine == engines.front(); };
  if (std::all_of(engines.begin(), engines.end(), is_first)) return models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto is_for_others = [engine = engines[i]](const std::string& library) {
      return engine_of_library(library).value_or(engine) != engine;
    };
    auto& libraries = models[i].operators;
    libraries.erase(std::remove_if(libraries.begin(), libraries.end(), is_for_others),
                    libraries.end());
  }
  return models;
}

BenchMachine describe_machine() {
  BenchMachine machine;
  machine.system = read_system_info();
  machine.kind = machine_kind(machine.system, kBuiltForArm);
  machine.processors = processors();
  machine.lookout = LOOKOUT_VERSION;
  return machine;
}

std::string to_text(const Combination& combination) {
  const int threads = combination.model.threads;
  const bool automatic = threads == ClassifierOptions::kAutoThreads;
  return fmt::format("{} with --threads {} --workers {}",
                     model_path(combination.model.file).string(),
                     automatic ? "auto" : std::to_string(threads), combination.model.workers);
}

// Empty when the other process was stopped before it had a result.
std::optional<BenchResult> measure_apart(const Combination& combination,
                                         const std::atomic<bool>& stop) {
  const ProcessOutput output = capture_process(
      {"/proc/self/exe", "bench", "--combination=" + to_json(combination)}, {},
      [&stop] { return stop.load(); }, Stderr::kInherited);
  if (!output.problem.empty()) {
    if (stop) return std::nullopt;
    throw Error(ErrorKind::kInternal,
                fmt::format("measuring {}: {}", to_text(combination), output.problem));
  }
  const Outcome outcome = outcome_from_json(output.out);
  if (outcome.exit_status != 0 && !stop) {
    throw Error(static_cast<ErrorKind>(outcome.exit_status), outcome.failure);
  }
  return outcome.result;
}

Outcome measure_here(const Combination& combination, const std::atomic<bool>& stop) {
  Outcome outcome;
  try {
    outcome.result = measure(combination, stop);
  } catch (const Error& error) {
    outcome.exit_status = error.exit_status();
    outcome.failure = error.what();
  }
  return outcome;
}

// Finds a mistake in the last of many models before all the others are measured. Each is opened
// apart: one process cannot have two engines.
void check_models(const std::vector<Combination>& all, const std::atomic<bool>& stop) {
  std::set<std::string> checked;
  for (const Combination& combination : all) {
    if (stop) return;
    const ModelOptions& model = combination.model;
    if (!checked.insert(model.file).second) continue;
    describe_model(model);
  }
}

void log_progress(const BenchResult& result) {
  log_info("{}, {}{} thread{}, {} worker{}: {:.1f} fps", result.model.name,
           result.auto_threads ? "auto: " : "", result.threads, result.threads == 1 ? "" : "s",
           result.workers, result.workers == 1 ? "" : "s", result.stats.classified_fps);
}

void measure_all(const std::vector<Combination>& all, const std::atomic<bool>& stop,
                 std::vector<BenchResult>& results) {
  if (all.size() == 1) {  // nothing else was measured in this process
    if (const auto result = measure(all.front(), stop)) results.push_back(*result);
    return;
  }
  log_info("{} combinations to measure", all.size());
  for (const Combination& combination : all) {
    if (stop) break;
    const std::optional<BenchResult> result = measure_apart(combination, stop);
    if (!result) break;
    results.push_back(*result);
    log_progress(results.back());
  }
}

// Each combination opens the source anew.
void check_source(const std::string& source) {
  if (std::holds_alternative<NoFrames>(parse_source_uri(source, {}))) {
    throw Error(ErrorKind::kUsage,
                "none: bench needs frames to measure; leave SOURCE out for test pictures");
  }
  if (!is_stream(source)) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: bench cannot measure a stream, which can be read only once; save it "
                          "to a file",
                          source));
}

Combination combine(const BenchOptions& options, const ModelOptions& model, int threads,
                    int workers) {
  Combination combination;
  combination.camera = options.camera;
  combination.model = model;
  combination.model.threads = threads;
  combination.model.workers = workers;
  combination.frames = options.frames;
  combination.log_level = options.log.level;
  return combination;
}

std::vector<int> default_threads(int processors) {
  std::vector<int> threads;
  for (int count = 1; count <= std::min(processors, 4); count *= 2) threads.push_back(count);
  return threads;
}

}  // namespace

std::vector<Combination> combinations(const BenchOptions& options, int processors) {
  const std::vector<int> threads =
      options.threads.empty() ? default_threads(processors) : options.threads;
  std::vector<Combination> all;
  for (const ModelOptions& model : options_of_models(options)) {
    for (const int thread_count : threads) {
      for (const int worker_count : options.workers) {
        if (worker_count > 1 && thread_count != 1) continue;
        all.push_back(combine(options, model, thread_count, worker_count));
      }
    }
  }
  if (all.empty()) {
    throw Error(ErrorKind::kUsage,
                "--workers: each of several workers computes with one thread: add 1 to --threads");
  }
  return all;
}

bool bench(const BenchOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  if (!options.combination.empty()) {
    const Combination combination = combination_from_json(options.combination);
    set_log_level(combination.log_level);
    print(to_json(measure_here(combination, stop)));
    return true;
  }
  check_source(options.camera.source);
  const std::vector<Combination> all = combinations(options, processors());
  std::optional<AtomicFile> file;
  if (!options.report.empty()) file.emplace("report", options.report);
  // A single model is opened by the process that measures it.
  if (options.models.size() > 1) check_models(all, stop);
  BenchReport report;
  report.machine = describe_machine();
  std::exception_ptr failure;
  try {
    measure_all(all, stop, report.results);
  } catch (const Error&) {
    if (report.results.empty()) throw;
    failure = std::current_exception();
  }
  disambiguate_names(report.results);
  report.missing = all.size() - report.results.size();
  if (report.results.empty()) file.reset();
  const bool json = options.results.format == Format::kJson;
  const std::string content =
      is_html(options.report) ? to_html(report, made_by(LOOKOUT_VERSION)) : to_markdown(report);
  save_and_print({{file, content}}, json ? to_json(report) : to_text(report), print);
  if (failure) std::rethrow_exception(failure);
  return interruption(report).empty();
}

}  // namespace lookout
