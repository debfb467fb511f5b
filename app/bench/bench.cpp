#include "app/bench/bench.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/bench/bench_result.h"
#include "app/bench/measure.h"
#include "app/output/save_and_print.h"
#include "app/run/models.h"
#include "pipeline/error.h"
#include "pipeline/open_model.h"
#include "platform/system/atomic_file.h"
#include "platform/system/process.h"

namespace lookout {
namespace {

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

BenchMachine describe_machine() {
  BenchMachine machine;
  machine.system = read_system_info();
  machine.kind = machine_kind(machine.system, kBuiltForArm);
  machine.processors = processors();
  machine.lookout = LOOKOUT_VERSION;
  machine.libtorch = engine_version();
  return machine;
}

// A run of one combination.
RunOptions run_of(const BenchOptions& combination) {
  RunOptions run = combination.run;
  run.model.file = combination.models.front();
  run.model.threads = combination.threads.front();
  run.model.workers = combination.workers.front();
  return run;
}

std::string threads_argument(const BenchOptions& combination) {
  const int threads = combination.threads.front();
  return threads == ClassifierOptions::kAutoThreads ? "auto" : std::to_string(threads);
}

// What main() of another process said of why it ended.
std::string sentence_of(const std::string& err) {
  const std::string begin = "lookout: ";
  const auto start = err.rfind(begin);
  if (start == std::string::npos) return {};
  const std::string sentence = err.substr(start + begin.size());
  return sentence.substr(0, sentence.find('\n'));
}

// Nothing when the process was stopped, by whoever that was, before there was a result.
std::optional<BenchResult> measure_apart(const BenchOptions& combination,
                                         const std::atomic<bool>& stop) {
  std::vector<std::string> command = arguments_of(combination);
  command.insert(command.begin(), "/proc/self/exe");
  const ProcessOutput output = capture_process(command, {}, [&stop] { return stop.load(); });
  if (output.problem.empty()) {
    const std::vector<BenchResult> results = parse_results(output.out);
    return results.empty() ? std::nullopt : std::optional(results.front());
  }
  const std::string sentence = sentence_of(output.err);
  if (output.status > 0 && !sentence.empty()) {
    throw Error(static_cast<ErrorKind>(output.status), sentence);
  }
  throw Error(ErrorKind::kInternal, fmt::format("measuring {} with --threads {} --workers {}: {}",
                                                model_path(combination.models.front()).string(),
                                                threads_argument(combination),
                                                combination.workers.front(), output.problem));
}

// So that a mistake in the last of many is not found after all the others were measured. Of a
// single one it is found at once, in the process that measures it and has to be a fresh one.
void check_models(const BenchOptions& options, const std::atomic<bool>& stop) {
  if (options.models.size() < 2) return;
  ClassifierOptions classifier_options;
  classifier_options.labels = read_labels(options.run.model.labels);
  for (const std::string& model : options.models) {
    if (stop) return;
    open_model(model_path(model), classifier_options);
  }
}

void log_progress(const BenchResult& result) {
  spdlog::info("{}, {}{} thread{}, {} worker{}: {:.1f} fps", result.model.name,
               result.auto_threads ? "auto: " : "", result.threads, result.threads == 1 ? "" : "s",
               result.workers, result.workers == 1 ? "" : "s", result.stats.classified_fps);
}

void measure_all(const std::vector<BenchOptions>& all, const std::atomic<bool>& stop,
                 std::vector<BenchResult>& results) {
  if (all.size() == 1) {  // this process is a fresh one
    if (const auto result = measure(run_of(all.front()), all.front().frames, stop)) {
      results.push_back(*result);
    }
    return;
  }
  spdlog::info("{} combinations to measure", all.size());
  for (const BenchOptions& combination : all) {
    if (stop) break;
    std::optional<BenchResult> result;
    try {
      result = measure_apart(combination, stop);
    } catch (const Error&) {
      if (!stop) throw;
    }
    if (!result) break;
    results.push_back(*result);
    log_progress(results.back());
  }
}

}  // namespace

std::vector<BenchOptions> combinations(const BenchOptions& options, int processors) {
  std::vector<int> threads = options.threads;
  if (threads.empty()) {
    for (int count = 1; count <= std::min(processors, 4); count *= 2) threads.push_back(count);
  }
  const std::vector<std::string> models =
      options.models.empty() ? std::vector<std::string>{""} : options.models;
  std::vector<BenchOptions> all;
  for (const std::string& model : models) {
    for (const int thread_count : threads) {
      for (const int worker_count : options.workers) {
        if (worker_count > 1 && thread_count != 1) continue;
        BenchOptions combination = options;
        combination.models = {model};
        combination.threads = {thread_count};
        combination.workers = {worker_count};
        all.push_back(combination);
      }
    }
  }
  if (all.empty()) {
    throw Error(ErrorKind::kUsage,
                "--workers: each of several workers computes with one thread: add 1 to --threads");
  }
  return all;
}

std::vector<std::string> arguments_of(const BenchOptions& combination) {
  const RunOptions& run = combination.run;
  const View& view = run.camera.view;
  std::vector<std::string> arguments{"bench", run.camera.source};
  const auto add = [&arguments](const char* name, const auto& value) {
    arguments.push_back(fmt::format("{}={}", name, value));
  };
  add("--model", model_path(combination.models.front()).string());
  add("--threads", threads_argument(combination));
  add("--workers", combination.workers.front());
  add("--frames", combination.frames);
  add("--timeout", fmt::format("{}ms", run.camera.timeout.count()));
  if (!run.model.labels.empty()) add("--labels", run.model.labels);
  if (run.camera.source_options.width) add("--width", *run.camera.source_options.width);
  if (run.camera.source_options.height) add("--height", *run.camera.source_options.height);
  if (run.camera.source_options.framerate) add("--framerate", *run.camera.source_options.framerate);
  add("--rotation", view.rotation);
  add("--hflip", view.hflip);
  add("--vflip", view.vflip);
  add("--roi", fmt::format("{},{},{},{}", view.roi.x, view.roi.y, view.roi.width, view.roi.height));
  add("--format", "json");
  add("--log-level", "error");
  return arguments;
}

void bench(const BenchOptions& options, const std::atomic<bool>& stop, const WritePart& print) {
  const std::vector<BenchOptions> all = combinations(options, processors());
  std::optional<AtomicFile> file;
  if (!options.report.empty()) file.emplace("report", options.report);
  check_models(options, stop);
  BenchReport report;
  report.machine = describe_machine();
  std::exception_ptr failure;
  try {
    measure_all(all, stop, report.results);
  } catch (const Error&) {
    if (report.results.empty()) throw;
    failure = std::current_exception();
  }
  report.missing = all.size() - report.results.size();
  if (report.results.empty()) file.reset();
  const bool json = options.run.results.format == Format::kJson;
  save_and_print(file, to_markdown(report), json ? to_json(report) : to_text(report), print);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lookout
