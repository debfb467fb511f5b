#include "app/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/model/model_facts.h"
#include "app/model/models.h"
#include "app/options/resolved_run.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/sha256.h"
#include "pipeline/results/format.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/frame_selector.h"
#include "pipeline/run/pipeline.h"
#include "platform/sources/open_source.h"
#include "platform/sources/replay_source.h"
#include "platform/sources/source_uri.h"
#include "platform/system/input_file.h"
#include "platform/system/process_usage.h"

namespace lookout {
namespace {

// Added to the time of a measurement, so that it ends although a camera sends nothing.
constexpr std::chrono::minutes kMaxWarmUp{1};

// Of a run whose results are reused in turn.
constexpr std::size_t kStillPairs = 5;
constexpr std::chrono::seconds kStillSlice{3};  // three times the default of still.at-least-every
constexpr double kStillPace = 30;

struct Limits {
  std::uint64_t frames = 0;           // 0: any number
  std::chrono::milliseconds time{0};  // 0: any
};

// Lets results be reused in every second slice of a run, and takes the processor time of each.
class StillSlices {
 public:
  // A slice ends after so many frames (0: any number), and after kStillSlice. `selector` outlives
  // this.
  StillSlices(FrameSelector& selector, std::uint64_t frames)
      : selector_(selector), max_frames_(frames) {}

  // For each frame. Returns whether that was the last one.
  bool add(const Result& result) {
    if (!begin_) {
      start();
      return false;
    }
    ++frames_;
    if (result.reused) ++reused_;
    const bool enough = max_frames_ > 0 && frames_ >= max_frames_;
    if (!enough && Clock::now() - *begin_ < kStillSlice) return false;
    end_slice();
    if (measured_.pairs.size() == kStillPairs) return true;
    start();
    return false;
  }

  std::optional<BenchStill> measured() const {
    return measured_.pairs.empty() ? std::nullopt : std::optional(measured_);
  }

 private:
  void start() {
    selector_.set_still(reusing_);
    frames_ = 0;
    reused_ = 0;
    cpu_ = process_usage().cpu;
    begin_ = Clock::now();
  }

  void end_slice() {
    const auto frames = static_cast<double>(frames_);
    const double cpu_ms = to_ms(process_usage().cpu - cpu_) / frames;
    if (reusing_) {
      measured_.pairs.push_back({without_ms_, cpu_ms, static_cast<double>(reused_) / frames});
    } else {
      without_ms_ = cpu_ms;
    }
    reusing_ = !reusing_;
  }

  FrameSelector& selector_;
  const std::uint64_t max_frames_;
  bool reusing_ = false;
  std::optional<Clock::time_point> begin_;  // of the slice
  Clock::duration cpu_{};                   // of the process, at that time
  std::uint64_t frames_ = 0;                // of the slice
  std::uint64_t reused_ = 0;                // of these
  double without_ms_ = 0;                   // of the slice before
  BenchStill measured_;
};

// Counts the frames after the warm-up, and ends the run.
class Stopwatch : public Reporter {
 public:
  // `still`: gets the frames after the measurement; null: there are none.
  Stopwatch(const Limits& limits, StillSlices* still, const std::atomic<bool>& stop)
      : limits_(limits), still_(still), stop_(stop) {}

  void report(const Result& result, const Frame& /*frame*/) override {
    if (is_measured_ && !done_) done_ = still_->add(result);
    if (++seen_ == 1) first_ = process_usage();
    if (seen_ == kWarmUpFrames) begin(result);
    if (seen_ <= kWarmUpFrames || is_measured_) return;
    statistics_->record(result);
    ++measured_;
    count_second();
    end(result);
  }

  void tick(const StatsSnapshot& stats) override {
    if (!stats.final) return;
    finish();
    done_ = true;
  }

  void poll() override {
    if (!stop_ || done_) return;
    interrupted_ = true;
    finish();
    done_ = true;
  }

  const std::atomic<bool>& done() const { return done_; }
  std::uint64_t measured() const { return measured_; }
  bool interrupted() const { return interrupted_; }
  // Age of the process at the first result.
  Clock::duration first() const { return first_.age; }
  // One for each whole second.
  const std::vector<double>& rates() const { return rates_; }
  // Between the last frame of the warm-up and the last one measured.
  StatsSnapshot stats() const { return statistics_->total(counts_, last_); }
  Clock::duration cpu() const { return last_usage_.cpu - begin_usage_.cpu; }
  std::uint64_t wakeups() const {
    return last_usage_.voluntary_switches - begin_usage_.voluntary_switches;
  }
  // Of the ends of whole seconds.
  std::optional<double> max_temperature() const { return max_temperature_; }
  std::uint64_t resident_bytes() const { return last_usage_.resident_bytes; }

 private:
  void begin(const Result& result) {
    begin_usage_ = process_usage();
    begin_sequence_ = result.sequence;
    begin_ = Clock::now();
    second_ = begin_;
    statistics_.emplace(begin_);
  }

  void count_second() {
    ++in_second_;
    const std::chrono::duration<double> passed = Clock::now() - second_;
    if (passed < std::chrono::seconds(1)) return;
    rates_.push_back(static_cast<double>(in_second_) / passed.count());
    max_temperature_ = std::max(max_temperature_, read_machine_state().temperature);
    in_second_ = 0;
    second_ = Clock::now();
  }

  void end(const Result& result) {
    last_ = Clock::now();
    const bool enough = limits_.frames > 0 && measured_ >= limits_.frames;
    const bool late = limits_.time.count() > 0 && last_ - begin_ >= limits_.time;
    counts_.captured = result.sequence - begin_sequence_;
    counts_.dropped = counts_.captured - measured_;
    if (enough || late) finish();
  }

  // Ends the measurement, and the run unless it goes on for `still_`.
  void finish() {
    if (!is_measured_) last_usage_ = process_usage();
    is_measured_ = true;
    if (still_ == nullptr) done_ = true;
  }

  const Limits limits_;
  StillSlices* const still_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> done_{false};
  bool is_measured_ = false;
  bool interrupted_ = false;
  std::uint64_t seen_ = 0;
  std::uint64_t measured_ = 0;
  std::optional<Statistics> statistics_;
  CaptureCounts counts_;
  std::uint64_t begin_sequence_ = 0;
  Clock::time_point begin_;
  Clock::time_point last_;
  Clock::time_point second_;  // when the second began that is counted now
  std::uint64_t in_second_ = 0;
  std::vector<double> rates_;
  std::optional<double> max_temperature_;
  ProcessUsage first_;
  ProcessUsage begin_usage_;
  ProcessUsage last_usage_;
};

// A model's files as they are before it is measured: they may be replaced meanwhile.
struct ModelFiles {
  std::vector<std::string> operators;  // each library with its hash
  Clock::duration hashing{};
};

ModelFiles hash_files(const ModelOptions& options, const NamedModel& model) {
  const auto start = Clock::now();
  ModelFiles files;
  model.sha256();  // which it keeps
  for (const std::string& library : operator_libraries(options)) {
    files.operators.push_back(
        fmt::format("{}, sha256 {}", library, sha256(read_input("operator library", library))));
  }
  files.hashing = Clock::now() - start;
  return files;
}

BenchModel bench_model(const LoadedModel& loaded, const ModelFiles& files) {
  const Classifier& classifier = *loaded.classifiers.front();
  const ModelSpec& spec = classifier.spec();
  const ModelDescription description{loaded.path.string(), loaded.sha256, 0, spec,
                                     classifier.facts()};
  BenchModel model;
  model.json =
      pick(to_json(description), {"name", "file", "sha256", "input", "activations", "kernels",
                                  "engine", "library", "quantization", "producer", "trained"});
  model.json["input"] = fmt::format("{}x{}", spec.input.width, spec.input.height);
  model.json["producer"] = producer_text(spec);
  model.json["operators"] = files.operators;
  model.facts = to_facts(description);
  model.facts.emplace_back("operators of", joined(files.operators, "; "));
  return model;
}

std::optional<BenchDevice> describe_device(const DeviceUse& use) {
  if (use.device.empty()) return std::nullopt;
  const DeviceCalls total = total_of(use);
  BenchDevice device{use.device, total.on_device, total.fallen_back, total.bytes_moved, 0};
  device.fallback_share = share_of(fallen_time(use), use.time);
  return device;
}

// A source, and the cost of recording its frames.
struct MeasuredSource {
  std::unique_ptr<Source> source;
  std::optional<double> pace;  // at which they are replayed
  std::size_t recorded_bytes = 0;
  Clock::duration recording{};
};

MeasuredSource open_measured_source(const Combination& combination, const InputSpec& input,
                                    FrameHint& frame_hint) {
  const CameraOptions& options = combination.camera;
  SourceOptions wishes = source_options(options, input);
  wishes.frame_hint = &frame_hint;
  MeasuredSource opened;
  opened.source = open_source(options.source, wishes);
  const SourceInfo& info = opened.source->info();
  if (info.live && combination.pace) throw pace_of_live(options.source);
  if (info.live) return opened;
  opened.pace = combination.pace;
  if (combination.still && !opened.pace) opened.pace = kStillPace;
  const auto start = Clock::now();
  auto frames = record_frames(*opened.source, RecordLimits());
  opened.recorded_bytes = pixel_bytes(frames);
  opened.source = std::make_unique<ReplaySource>(std::move(frames), info, opened.pace.value_or(0));
  opened.recording = Clock::now() - start;
  return opened;
}

// `beside`: the time of what a run does not do before its first frame.
void set_usage(const Stopwatch& stopwatch, const MeasuredSource& measured, Clock::duration beside,
               BenchResult& result) {
  const auto frames = static_cast<double>(stopwatch.measured());
  const auto resident = static_cast<double>(stopwatch.resident_bytes());
  const std::chrono::duration<double> interval = result.stats.interval;
  result.cpu_ms = to_ms(stopwatch.cpu()) / frames;
  result.wakeups_per_s = static_cast<double>(stopwatch.wakeups()) / interval.count();
  result.resident_mb = (resident - static_cast<double>(measured.recorded_bytes)) / 1e6;
  result.start_s = std::chrono::duration<double>(stopwatch.first() - beside).count();
}

}  // namespace

Error pace_of_live(const std::string& source) {
  return {ErrorKind::kUsage,
          fmt::format("--pace: {} has a rate of its own; --framerate asks a camera for another, "
                      "test://PATTERN?fps=0 has none",
                      shown_source(source))};
}

std::optional<BenchResult> measure(const Combination& combination, const std::atomic<bool>& stop) {
  BenchResult result;
  result.before = read_machine_state();
  NamedModel named = read_archive(combination.model);
  const ModelFiles files = hash_files(combination.model, named);
  LoadOptions load;
  load.keep_threads = true;
  load.hash = true;
  const LoadedModel loaded = load_models(std::move(named), combination.model, load);
  const Classifier& model = *loaded.classifiers.front();
  FrameSelector selector({}, combination.camera.view, model.spec().input);
  const MeasuredSource measured = open_measured_source(combination, model.spec().input, selector);

  const Limits limits{combination.frames, combination.camera.timeout};
  StillSlices still(selector, limits.frames);
  PipelineOptions pipeline_options;
  pipeline_options.view = combination.camera.view;
  pipeline_options.capture = combination.camera.capture;
  if (limits.time.count() > 0) pipeline_options.end = Clock::now() + limits.time + kMaxWarmUp;
  if (combination.still) {
    pipeline_options.selector = &selector;
    if (pipeline_options.end) *pipeline_options.end += 2 * kStillPairs * kStillSlice;
  }
  auto owner = std::make_unique<Stopwatch>(limits, combination.still ? &still : nullptr, stop);
  const Stopwatch& stopwatch = *owner;
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::move(owner));
  run_pipeline(*measured.source, loaded.classifiers, reporters, pipeline_options, stopwatch.done());
  result.after = read_machine_state();
  if (stopwatch.measured() == 0) {
    if (stop) return std::nullopt;
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: no frame came after the warm-up of {}: nothing was measured",
                            shown_source(combination.camera.source), kWarmUpFrames));
  }
  result.model = bench_model(loaded, files);
  result.device = describe_device(model.device_use());
  result.threads = model.threads();
  result.auto_threads = combination.model.threads == ClassifierOptions::kAutoThreads;
  result.workers = combination.model.workers;
  result.source = measured.source->info().description;
  result.live = measured.source->info().live;
  result.pace = measured.pace;
  result.stats = stopwatch.stats();
  result.fps_spread = spread_of(stopwatch.rates());
  result.max_temperature =
      std::max({result.before.temperature, stopwatch.max_temperature(), result.after.temperature});
  result.still = still.measured();
  result.complete = !stopwatch.interrupted();
  set_usage(stopwatch, measured, measured.recording + files.hashing, result);
  return result;
}

}  // namespace lookout
