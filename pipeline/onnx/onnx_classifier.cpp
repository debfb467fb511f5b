#include "pipeline/onnx/onnx_classifier.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/model/thread_tuner.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/onnx/onnx_head.h"
#include "pipeline/onnx/onnx_session.h"
#include "pipeline/onnx/onnx_trace.h"

namespace lookout {
namespace {

std::string shape_text(const Ort::TensorTypeAndShapeInfo& info) {
  std::string text;
  for (const std::int64_t dim : info.GetShape()) {
    text += (text.empty() ? "" : ", ") + std::to_string(dim);
  }
  return "[" + text + "]";
}

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
    const ArchiveContents contents = read_contents(archive);
    spec_ = read_spec(archive, contents, options.labels);
    facts_ = onnx_facts(contents);
    load(archive, *contents.onnx, options);
    malloc_trim(0);  // frees the memory of loading
  }

  void classify(const ImageTensor& image, const FrameContext& frame, std::vector<float>& logits) {
    const auto shape = shape_of(image, spec_.input.layout);
    const bool traced = frame.trace != nullptr && trace_ && trace_->has_room();
    const Ort::Value output = traced ? trace_->run(image.values, shape, output_, frame)
                                     : session_->run(image.values, shape, output_);
    check_row(output);
    const auto* scores = output.GetTensorData<float>();
    const std::size_t count = spec_.labels.size();
    if (!can_be_scores(scores, count)) {
      refuse_model(archive_, "gives scores that are not finite numbers");
    }
    logits.assign(scores, scores + count);
  }

  ModelSpec spec_;
  ModelFacts facts_;
  int threads_ = 1;

 private:
  void load(const ModelArchive& archive, const OnnxContents& contents,
            const ClassifierOptions& options) {
    const bool choose = options.threads == ClassifierOptions::kAutoThreads;
    threads_ = choose ? 1 : std::max(1, options.threads);
    session_ = std::make_shared<OnnxSession>(archive, threads_, options.operator_libraries);
    const auto& outputs = session_->outputs();
    const bool has_logits = std::find(outputs.begin(), outputs.end(), kLogits) != outputs.end();
    output_ = has_logits ? kLogits : outputs.front();
    warm_up([this](const ImageTensor& image, auto& logits) { classify(image, {}, logits); }, spec_,
            facts_);
    if (choose && options.processors > 1) choose_threads(archive, options);
    if (options.trace) prepare_trace(archive, count_of_nodes(contents), options);
  }

  // Each number of threads needs a session, which is made when the tuner first asks for it.
  void choose_threads(const ModelArchive& archive, const ClassifierOptions& options) {
    ThreadTuner tuner(options.processors, ThreadTuner::Start::kTryAll, options.free_processors);
    std::vector<std::shared_ptr<OnnxSession>> sessions(
        static_cast<std::size_t>(options.processors));
    sessions[0] = session_;
    const auto use = [&](int threads) {
      auto& session = sessions[static_cast<std::size_t>(threads) - 1];
      if (!session)
        session = std::make_shared<OnnxSession>(archive, threads, options.operator_libraries);
      session_ = session;
      threads_ = threads;
    };
    const ImageTensor image = blank_image(spec_.input);
    std::vector<float> logits;
    while (tuner.starting()) {
      use(tuner.threads());
      const auto start = Clock::now();
      classify(image, {}, logits);
      tuner.record(Clock::now() - start);
    }
    use(tuner.threads());
  }

  void prepare_trace(const ModelArchive& archive, std::uint64_t nodes,
                     const ClassifierOptions& options) {
    trace_ = std::make_unique<OnnxTrace>(archive, threads_, options.operator_libraries, spec_.name,
                                         nodes);
    const ImageTensor image = blank_image(spec_.input);
    for (int run = 0; run < 2; ++run)
      trace_->run(image.values, shape_of(image, spec_.input.layout), output_, {});
  }

  // One row of floats, a score for each label.
  void check_row(const Ort::Value& output) const {
    if (!output.IsTensor()) refuse_model(archive_, "gives no tensor");
    const Ort::TensorTypeAndShapeInfo info = output.GetTensorTypeAndShapeInfo();
    const bool floats = info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    const std::size_t count = info.GetElementCount();
    const std::size_t labels = spec_.labels.size();
    if (floats && count == labels) return;
    const auto shape = info.GetShape();
    const bool row = floats && !shape.empty() && shape.back() == static_cast<std::int64_t>(count);
    if (!row) {
      refuse_model(archive_, "its output " + output_ + " is " + (floats ? "float " : "not float ") +
                                 shape_text(info) + " instead of one row of float scores");
    }
    refuse_model(archive_, "gives " + std::to_string(count) + " scores, but there are " +
                               std::to_string(labels) + " labels");
  }

  std::filesystem::path archive_;
  std::shared_ptr<OnnxSession> session_;
  std::unique_ptr<OnnxTrace> trace_;  // null: no frame will be traced
  std::string output_;
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
