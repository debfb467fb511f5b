#include "app/bench/measure.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <opencv2/core/utility.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "app/run/models.h"
#include "app/run/run.h"
#include "pipeline/error.h"
#include "pipeline/open_model.h"
#include "pipeline/pipeline.h"
#include "pipeline/results/format.h"
#include "platform/sources/open_source.h"
#include "platform/sources/replay_source.h"
#include "platform/system/process_usage.h"
#include "platform/system/sha256.h"

namespace lookout {
namespace {

// Frames before the measurement: buffers are allocated, the clock rises.
constexpr std::uint64_t kWarmUpFrames = 10;

// Added to the time of a measurement: a camera that sends nothing must not keep it for ever.
constexpr std::chrono::minutes kLongestWarmUp{1};

struct Limits {
  std::uint64_t frames = 0;           // 0: any number
  std::chrono::milliseconds time{0};  // 0: any
};

// Counts the frames after the warm-up, and ends the run.
class Stopwatch : public Reporter {
 public:
  Stopwatch(const Limits& limits, const std::atomic<bool>& stop) : limits_(limits), stop_(stop) {}

  void report(const Result& result, const Frame& /*frame*/) override {
    if (++seen_ == 1) first_ = process_usage();
    if (seen_ == kWarmUpFrames) begin(result);
    if (seen_ <= kWarmUpFrames || done_) return;
    statistics_->record(result);
    ++measured_;
    end(result);
  }

  void tick(const StatsSnapshot& stats) override {
    if (stats.final) finish();
  }

  void beat() override {
    if (!stop_ || done_) return;
    interrupted_ = true;
    finish();
  }

  const std::atomic<bool>& done() const { return done_; }
  std::uint64_t measured() const { return measured_; }
  bool interrupted() const { return interrupted_; }
  // At the first result.
  Clock::duration first() const { return first_.age; }
  // Between the last frame of the warm-up and the last one measured.
  StatsSnapshot stats() const { return statistics_->total(counts_, last_); }
  Clock::duration cpu() const { return last_usage_.cpu - begin_usage_.cpu; }
  std::uint64_t resident_bytes() const { return last_usage_.resident_bytes; }

 private:
  void begin(const Result& result) {
    begin_usage_ = process_usage();
    begin_sequence_ = result.sequence;
    begin_ = Clock::now();
    statistics_.emplace(begin_);
  }

  void end(const Result& result) {
    last_ = Clock::now();
    const bool enough = limits_.frames > 0 && measured_ >= limits_.frames;
    const bool late = limits_.time.count() > 0 && last_ - begin_ >= limits_.time;
    counts_.captured = result.sequence - begin_sequence_;
    counts_.dropped = counts_.captured - measured_;
    if (enough || late) finish();
  }

  void finish() {
    if (!done_) last_usage_ = process_usage();
    done_ = true;
  }

  const Limits limits_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> done_{false};
  bool interrupted_ = false;
  std::uint64_t seen_ = 0;
  std::uint64_t measured_ = 0;
  std::optional<Statistics> statistics_;
  CaptureCounts counts_;
  std::uint64_t begin_sequence_ = 0;
  Clock::time_point begin_;
  Clock::time_point last_;
  ProcessUsage first_;
  ProcessUsage begin_usage_;
  ProcessUsage last_usage_;
};

BenchModel describe(const std::filesystem::path& path, const Classifier& classifier) {
  const ModelSpec& spec = classifier.spec();
  const ModelFacts& facts = classifier.facts();
  BenchModel model;
  model.name = spec.name;
  model.file = path.string();
  model.sha256 = sha256_of_file(path);
  model.input = fmt::format("{}x{}", spec.input.width, spec.input.height);
  model.activations = facts.activations;
  model.kernels = facts.kernels;
  model.engine = facts.engine;
  model.quantization = spec.quantization;
  for (const auto& [tool, version] : spec.producer) {
    model.producer += fmt::format("{}{} {}", model.producer.empty() ? "" : ", ", tool, version);
  }
  model.trained = spec.trained;
  return model;
}

}  // namespace

std::optional<BenchResult> measure(const RunOptions& options, std::uint64_t frames,
                                   const std::atomic<bool>& stop) {
  cv::setNumThreads(1);  // ours are counted
  BenchResult result;
  result.before = read_machine_state();
  const auto models = load_models(options, /*keep_threads=*/true);
  const Classifier& model = *models.front();
  auto source = open_source(options.camera.source, source_options(options, model.spec().input));
  const auto opened = Clock::now();
  std::size_t recorded_bytes = 0;
  if (!source->info().live) {
    auto recorded = record_frames(*source, RecordLimits());
    recorded_bytes = pixel_bytes(recorded);
    source = std::make_unique<ReplaySource>(std::move(recorded), source->info());
  }
  const auto recording = Clock::now() - opened;

  PipelineOptions pipeline_options;
  pipeline_options.view = options.camera.view;
  pipeline_options.capture = options.camera.capture;
  if (options.camera.timeout.count() > 0)
    pipeline_options.duration = options.camera.timeout + kLongestWarmUp;
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<Stopwatch>(Limits{frames, options.camera.timeout}, stop));
  const auto& stopwatch = static_cast<const Stopwatch&>(*reporters.back());
  run_pipeline(*source, models, reporters, pipeline_options, stopwatch.done());
  result.after = read_machine_state();
  if (stopwatch.measured() == 0) {
    if (stop) return std::nullopt;
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: no frame came after the warm-up of {}: nothing was measured",
                            options.camera.source, kWarmUpFrames));
  }

  const auto measured = static_cast<double>(stopwatch.measured());
  result.model = describe(model_path(options.model.file), model);
  result.threads = model.threads();
  result.auto_threads = options.model.threads == ClassifierOptions::kAutoThreads;
  result.workers = options.model.workers;
  result.source = source->info().description;
  result.live = source->info().live;
  result.stats = stopwatch.stats();
  result.complete = !stopwatch.interrupted();
  result.cpu_ms = to_ms(stopwatch.cpu()) / measured;
  result.resident_mb =
      (static_cast<double>(stopwatch.resident_bytes()) - static_cast<double>(recorded_bytes)) / 1e6;
  result.start_s = std::chrono::duration<double>(stopwatch.first() - recording).count();
  return result;
}

}  // namespace lookout
