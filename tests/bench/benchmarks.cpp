// How long the parts of a frame take, by Google Benchmark.
//
//   lookout_benchmarks [--benchmark_...] [ARCHIVE...]    with archives: the forward of each, too
//
// Figures depend on the machine and on its other work. `frame` is the processor time of one
// frame, of all threads together.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <opencv2/core.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/core/latest.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/model/top_k.h"
#include "pipeline/results/format.h"
#include "pipeline/results/statistics.h"
#include "pipeline/run/open_model.h"
#include "pipeline/run/pipeline.h"
#include "platform/reporters/stdout_reporters.h"
#include "platform/sources/test_source.h"
#include "platform/system/non_blocking_writer.h"

namespace lookout {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kClasses = 1000;  // ImageNet's
constexpr std::size_t kTopK = 10;
constexpr std::uint64_t kFramesOfARun = 500;

std::vector<float> make_logits() {
  std::mt19937 random;  // the default seed: the same values every time
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(kClasses);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

std::vector<std::string> make_labels() {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < kClasses; ++i) labels.push_back("label number " + std::to_string(i));
  return labels;
}

// A model that takes no time: the same scores for every picture.
class NoModel : public Classifier {
 public:
  NoModel() : logits_(make_logits()) { spec_.labels = make_labels(); }
  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }
  int threads() const override { return 1; }
  void classify(const ImageTensor& /*image*/, const FrameContext& /*frame*/,
                std::vector<float>& logits) override {
    logits = logits_;
  }

 private:
  ModelSpec spec_;
  ModelFacts facts_;
  std::vector<float> logits_;
};

void preprocess(benchmark::State& state, const cv::Size& size, const InputSpec& spec) {
  Preprocessor preprocessor(spec, {});
  cv::Mat frame(size, CV_8UC3);
  draw_pattern(Pattern::kColorSquares, frame);
  ImageTensor image;
  for (auto _ : state) {
    preprocessor.run(frame, image);
    benchmark::DoNotOptimize(image.values.data());
    benchmark::DoNotOptimize(image.bytes.data());
  }
}

void softmax_of_1000(benchmark::State& state) {
  const std::vector<float> logits = make_logits();
  std::vector<float> scores;
  for (auto _ : state) {
    softmax(logits, scores);
    benchmark::DoNotOptimize(scores.data());
  }
}
BENCHMARK(softmax_of_1000);

void top_10_of_1000(benchmark::State& state) {
  const std::vector<std::string> labels = make_labels();
  const std::vector<float> logits = make_logits();
  std::vector<float> scores;
  softmax(logits, scores);
  std::vector<Prediction> top;
  for (auto _ : state) {
    top_k(logits, scores, labels, kTopK, 0, top);
    benchmark::DoNotOptimize(top.data());
  }
}
BENCHMARK(top_10_of_1000);

// The swaps alone: both sides on one thread.
void latest_put_and_take(benchmark::State& state) {
  Latest<Frame> frames;
  Frame put;
  Frame taken;
  for (auto _ : state) {
    frames.put_newest(put);
    benchmark::DoNotOptimize(frames.take(taken, milliseconds(0)));
  }
}
BENCHMARK(latest_put_and_take);

// From a thread that is always ready; includes the cost of waking.
void latest_between_threads(benchmark::State& state) {
  Latest<Frame> frames;
  std::atomic<bool> stop{false};
  std::thread producer([&] {
    Frame put;
    while (!stop) frames.put_next(put, milliseconds(1));
  });
  Frame taken;
  for (auto _ : state) {
    benchmark::DoNotOptimize(frames.take(taken, milliseconds(100)));
  }
  stop = true;
  producer.join();
}
BENCHMARK(latest_between_threads)->UseRealTime();

Result make_result(const std::vector<std::string>& labels) {
  const std::vector<float> logits = make_logits();
  std::vector<float> scores;
  softmax(logits, scores);
  Result result;
  result.sequence = 1234;
  result.timestamp = std::chrono::system_clock::now();
  result.frame_age = milliseconds(31);
  result.durations = {milliseconds(1), milliseconds(2), milliseconds(24), milliseconds(27)};
  top_k(logits, scores, labels, kTopK, 0, result.top);
  return result;
}

void result_as_json(benchmark::State& state) {
  const std::vector<std::string> labels = make_labels();
  const Result result = make_result(labels);
  JsonFormat format({"camera", "model", labels, "", "", true});
  std::string line;
  for (auto _ : state) {
    line.clear();
    format.append(result, "", line);
    benchmark::DoNotOptimize(line.data());
  }
}
BENCHMARK(result_as_json);

void result_as_text(benchmark::State& state) {
  const std::vector<std::string> labels = make_labels();
  const Result result = make_result(labels);
  std::string line;
  for (auto _ : state) {
    line.clear();
    append_text(result, "", line);
    benchmark::DoNotOptimize(line.data());
  }
}
BENCHMARK(result_as_text);

void statistics_of_a_frame(benchmark::State& state) {
  const std::vector<std::string> labels = make_labels();
  const Result result = make_result(labels);
  Statistics statistics(Clock::now());
  for (auto _ : state) statistics.record(result);
}
BENCHMARK(statistics_of_a_frame);

void statistics_of_an_interval_as_json(benchmark::State& state) {
  const std::vector<std::string> labels = make_labels();
  const Result result = make_result(labels);
  const JsonFormat format({"camera", "model", labels, "", "", true});
  Statistics statistics(Clock::now());
  std::string line;
  for (auto _ : state) {
    statistics.record(result);
    line.clear();
    format.append(statistics.interval({}, Clock::now()), line);
    benchmark::DoNotOptimize(line.data());
  }
}
BENCHMARK(statistics_of_an_interval_as_json);

// Taking the frame, handing it over, preprocessing, softmax, top k, state, statistics and a JSON
// line: a run of the pipeline with frames that are drawn once and copied, as from a camera.
void everything_but_the_model(benchmark::State& state, const cv::Size& size) {
  NoModel model;
  std::atomic<bool> stop{false};
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  NonBlockingWriter output(null, "null", NonBlockingWriter::WhenFull::kWait, stop);
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<JsonReporter>(
      output, JsonFormat({"camera", "model", model.spec().labels, "", "", true})));
  TestSourceOptions options;
  options.pattern = Pattern::kColorSquares;
  options.width = size.width;
  options.height = size.height;
  options.fps = 0;
  options.frames = kFramesOfARun;
  for (auto _ : state) {
    TestSource source(options);
    run_pipeline(source, model, reporters, {}, stop);
  }
  ::close(null);
  state.counters["frame"] = benchmark::Counter(
      kFramesOfARun, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void forward(benchmark::State& state, Classifier& classifier) {
  const InputSpec& input = classifier.spec().input;
  ImageTensor image;
  Preprocessor(input, {}).run(cv::Mat::zeros(input.height, input.width, CV_8UC3), image);
  std::vector<float> logits;
  for (auto _ : state) {
    classifier.classify(image, {}, logits);
    benchmark::DoNotOptimize(logits.data());
  }
}

std::string to_text(const cv::Size& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

void register_sizes() {
  for (const cv::Size size : {cv::Size(224, 224), cv::Size(640, 480), cv::Size(1280, 720)}) {
    for (const ResizeMode mode :
         {ResizeMode::kCenterSquare, ResizeMode::kStretch, ResizeMode::kLetterbox}) {
      InputSpec spec;
      spec.resize = mode;
      const std::string name = "preprocess/" + to_text(size) + "/" + to_text(mode);
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) { preprocess(state, size, spec); });
      spec.quantization = InputQuantization{0.0186F, 114, false};
      benchmark::RegisterBenchmark((name + "/quantized").c_str(),
                                   [=](benchmark::State& state) { preprocess(state, size, spec); });
    }
    benchmark::RegisterBenchmark(
        ("everything_but_the_model/" + to_text(size)).c_str(),
        [=](benchmark::State& state) { everything_but_the_model(state, size); })
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  }
}

void register_archive(const std::filesystem::path& archive) {
  const std::shared_ptr<Classifier> classifier = open_model(ModelArchive(archive), {});
  benchmark::RegisterBenchmark(("forward/" + archive.stem().string()).c_str(),
                               [=](benchmark::State& state) { forward(state, *classifier); })
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace lookout

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  cv::setNumThreads(1);  // as lookout does
  try {
    lookout::register_sizes();
    for (int i = 1; i < argc; ++i) lookout::register_archive(argv[i]);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::cerr << "lookout_benchmarks: " << error.what() << '\n';
    return 65;
  }
  benchmark::Shutdown();
}
