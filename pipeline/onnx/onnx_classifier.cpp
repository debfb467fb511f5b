#include "pipeline/onnx/onnx_classifier.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/model/network_output.h"
#include "pipeline/model/start_log.h"
#include "pipeline/model/thread_trials.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/onnx/onnx_head.h"
#include "pipeline/onnx/onnx_numbers.h"
#include "pipeline/onnx/onnx_session.h"
#include "pipeline/onnx/onnx_trace.h"

namespace lookout {
namespace {

std::uint64_t count_of_nodes(const OnnxContents& contents) {
  std::uint64_t nodes = 0;
  for (const auto& [type, count] : contents.operators) nodes += static_cast<std::uint64_t>(count);
  return nodes;
}

// A loaded model, and what is known of it. Several threads may run it at the same time.
class OnnxModel {
 public:
  OnnxModel(const ModelArchive& archive, const ClassifierOptions& options)
      : archive_(archive.path()) {
    const ArchiveContents& contents = read_contents(archive);
    spec_ = read_spec(archive, contents, options.labels, options.stated);
    facts_ = onnx_facts(contents);
    load(archive, *contents.onnx, options);
    malloc_trim(0);  // frees the memory of loading
  }

  void classify(const ImageTensor& image, const FrameContext& frame, std::vector<float>& logits) {
    const auto shape = shape_of(image, spec_.input.layout);
    const bool traced = frame.trace != nullptr && trace_ && trace_->has_room();
    const Ort::Value output = naming_assumed_size(spec_, [&] {
      return output_.empty() ? choose_output(image.values, shape)
             : traced        ? trace_->run(image.values, shape, output_, frame)
                             : session_->run(image.values, shape, output_);
    });
    read_numbers(output, logits);
    check_scores(archive_, logits);
    add_opposite(spec_, logits);
  }

  ModelSpec spec_;
  ModelFacts facts_;
  int threads_ = 1;

 private:
  void load(const ModelArchive& archive, const OnnxContents& contents,
            const ClassifierOptions& options) {
    const bool choose = options.threads == ClassifierOptions::kAutoThreads;
    threads_ = std::max(1, choose ? options.processors : options.threads);
    StartLog log(spec_.name, "is being loaded");
    const auto begin = Clock::now();
    session_ =
        std::make_shared<OnnxSession>(archive, OnnxThreads{threads_}, options.operator_libraries);
    const Clock::duration load_time = Clock::now() - begin;
    log.begin("is run for the first times");
    const WarmUp start = warm_up(
        archive_, [this](const ImageTensor& image, auto& numbers) { classify(image, {}, numbers); },
        spec_, facts_);
    log.begin("is run to choose the number of threads");
    if (choose) choose_threads(archive, options, start.left, load_time);
    log.begin("is being prepared for the trace");
    if (options.trace) prepare_trace(archive, count_of_nodes(contents), options);
  }

  // The scores among the outputs are known once all of them were there: a file need not tell their
  // sizes.
  Ort::Value choose_output(const std::vector<float>& values,
                           const std::array<std::int64_t, 4>& shape) {
    std::vector<Ort::Value> all_values = session_->run(values, shape);
    const std::vector<std::string>& names = session_->outputs();
    std::vector<NetworkOutput> outputs;
    for (std::size_t i = 0; i < names.size(); ++i) {
      outputs.push_back(describe_output(names[i], all_values[i]));
    }
    const std::size_t chosen = choose_scores(archive_, outputs, spec_.labels.size());
    output_ = names[chosen];
    return std::move(all_values[chosen]);
  }

  void choose_threads(const ModelArchive& archive, const ClassifierOptions& options,
                      Clock::duration limit, Clock::duration load_time) {
    const ImageTensor image = blank_image(spec_.input);
    std::vector<float> logits;
    std::shared_ptr<OnnxSession> best = session_;
    OnnxThreads best_threads{threads_};
    OnnxThreads tried = best_threads;
    ThreadTrials trials;
    trials.run = [&] { classify(image, {}, logits); };
    trials.load = [&](int threads, std::chrono::microseconds spin) {
      session_.reset();
      tried = {threads, spin};
      session_ = std::make_shared<OnnxSession>(archive, tried, options.operator_libraries);
    };
    trials.keep = [&] {
      best = session_;
      best_threads = tried;
    };
    try_threads(trials, threads_, limit, load_time);
    session_ = best;
    threads_ = best_threads.count;
    if (threads_ > 1) {
      log_debug("ONNX Runtime: {} threads, which spin for {} us", threads_,
                best_threads.spin.count());
    }
  }

  void prepare_trace(const ModelArchive& archive, std::uint64_t nodes,
                     const ClassifierOptions& options) {
    trace_ = std::make_unique<OnnxTrace>(archive, threads_, options.operator_libraries, spec_.name,
                                         nodes);
    const ImageTensor image = blank_image(spec_.input);
    for (int run = 0; run < 2; ++run)
      trace_->run(image.values, shape_of(image, spec_.input.layout), output_, {});
  }

  std::filesystem::path archive_;
  std::shared_ptr<OnnxSession> session_;
  std::unique_ptr<OnnxTrace> trace_;  // null: no frame will be traced
  std::string output_;                // that is the scores; empty before the first run
};

class OnnxClassifier : public Classifier {
 public:
  explicit OnnxClassifier(std::shared_ptr<OnnxModel> model) : model_(std::move(model)) {}

  const ModelSpec& spec() const override { return model_->spec_; }
  const ModelFacts& facts() const override { return model_->facts_; }
  int threads() const override { return model_->threads_; }

  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override {
    model_->classify(image, frame, logits);
  }

 private:
  std::shared_ptr<OnnxModel> model_;
};

}  // namespace

EngineFacts onnxruntime_facts() {
  EngineFacts facts;
  facts.version = OrtGetApiBase()->GetVersionString();
  facts.engines = {"CPU"};
  facts.used = "CPU";
  return facts;
}

std::vector<std::unique_ptr<Classifier>> open_onnx_models(const ModelArchive& archive,
                                                          const ClassifierOptions& options,
                                                          int count) {
  const auto model = std::make_shared<OnnxModel>(archive, options);
  std::vector<std::unique_ptr<Classifier>> classifiers(static_cast<std::size_t>(count));
  std::generate(classifiers.begin(), classifiers.end(),
                [&model] { return std::make_unique<OnnxClassifier>(model); });
  return classifiers;
}

}  // namespace lookout
