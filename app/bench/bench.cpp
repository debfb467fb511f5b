#include "app/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <variant>

#include "app/bench/bench_result.h"
#include "app/bench/measure.h"
#include "app/model/models.h"
#include "app/report/report.h"
#include "pipeline/archive/operator_library.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/run/open_model.h"
#include "platform/sources/open_source.h"
#include "platform/sources/source_uri.h"
#include "platform/system/input_file.h"
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
  for (const ModelOptions& model : models) engines.push_back(read_archive(model).archive.engine());
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

// This program's own command line, which also gives another process the combination.
std::vector<std::string> command_for(std::size_t combination) {
  const std::string line = read_input("command line", "/proc/self/cmdline");
  std::vector<std::string> command{"/proc/self/exe", "bench",
                                   fmt::format("--combination={}", combination)};
  bool after_bench = false;
  for (std::size_t i = 0; i < line.size(); i += std::strlen(&line[i]) + 1) {
    if (after_bench) command.emplace_back(&line[i]);
    after_bench = after_bench || std::strcmp(&line[i], "bench") == 0;
  }
  return command;
}

// Nothing when the other process was stopped before it had a result.
std::optional<BenchResult> measure_apart(const std::vector<Combination>& all, std::size_t number,
                                         const std::atomic<bool>& stop) {
  const ModelOptions& model = all[number].model;
  const ProcessOutput output = capture_process(
      command_for(number), {}, [&stop] { return stop.load(); }, Stderr::kInherited);
  if (!output.problem.empty()) {
    if (stop) return std::nullopt;
    const bool automatic = model.threads == ClassifierOptions::kAutoThreads;
    throw Error(ErrorKind::kInternal,
                fmt::format("measuring {} with --threads {} --workers {}: {}",
                            model_path(model.file).string(),
                            automatic ? "auto" : std::to_string(model.threads), model.workers,
                            output.problem));
  }
  if (output.out.empty()) return std::nullopt;
  const std::string message = output.out.substr(output.out.find('\n') + 1);
  const int status = std::stoi(output.out);
  if (status != 0 && stop) return std::nullopt;
  if (status != 0) throw Error(static_cast<ErrorKind>(status), message);
  BenchResult result = from_message(message);
  result.model.json["file"] = model_path(model.file).string();  // also when it is no UTF-8
  return result;
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
  log_info("{}, {}{} thread{}, {} worker{}: {:.1f} fps", result.model.text("name"),
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
  for (std::size_t i = 0; i < all.size() && !stop; ++i) {
    const std::optional<BenchResult> result = measure_apart(all, i, stop);
    if (!result) break;
    results.push_back(*result);
    log_progress(results.back());
  }
}

// Each combination opens the source anew.
void check_source(const std::string& source, bool paced) {
  if (std::holds_alternative<NoFrames>(parse_source_uri(source, {}))) {
    throw Error(ErrorKind::kUsage,
                "none: bench needs frames to measure; leave SOURCE out for test pictures");
  }
  if (paced && has_own_rate(source)) throw pace_of_live(source);
  if (!is_stream(source)) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: bench cannot measure a stream, which can be read only once; save it "
                          "to a file",
                          source));
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
        all.push_back({options.camera, model, options.frames, options.pace, options.still});
        all.back().model.threads = thread_count;
        all.back().model.workers = worker_count;
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
  check_source(options.camera.source, options.pace.has_value());
  const std::vector<Combination> all = combinations(options, processors());
  if (options.combination >= 0) {
    try {
      const auto result = measure(all.at(static_cast<std::size_t>(options.combination)), stop);
      if (result) print("0\n" + to_message(*result));
    } catch (const Error& error) {
      print(fmt::format("{}\n{}", error.exit_status(), error.what()));
    }
    return true;
  }
  const ReportFile file("report", options.report);
  // A single model is opened by the process that measures it.
  if (options.models.size() > 1) check_models(all, stop);
  BenchReport measured;
  measured.machine.system = read_system_info();
  measured.machine.kind = machine_kind(measured.machine.system, kBuiltForArm);
  measured.machine.processors = processors();
  measured.machine.lookout = LOOKOUT_VERSION;
  std::exception_ptr failure;
  try {
    measure_all(all, stop, measured.results);
  } catch (const Error&) {
    if (measured.results.empty()) throw;
    failure = std::current_exception();
  }
  disambiguate_names(measured.results);
  measured.missing = all.size() - measured.results.size();
  std::vector<const ReportFile*> files;
  if (!measured.results.empty()) files.push_back(&file);
  save_and_print(make_report(measured), files, options.results.format, print);
  if (failure) std::rethrow_exception(failure);
  return interruption(measured).empty();
}

}  // namespace lookout
