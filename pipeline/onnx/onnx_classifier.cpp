#include "pipeline/onnx/onnx_classifier.h"

#include <algorithm>
#include <utility>

#include "pipeline/model/network_output.h"
#include "pipeline/onnx/onnx_embedder.h"
#include "pipeline/onnx/onnx_inference.h"
#include "pipeline/onnx/onnx_numbers.h"

namespace lookout {
namespace {

// A loaded model, and what is known of it. Several threads may run it at the same time.
class OnnxModel {
 public:
  OnnxModel(const ModelArchive& archive, const ClassifierOptions& options)
      : archive_(archive.path()),
        inference_(archive,
                   read_spec(archive, read_contents(archive), options.labels, options.stated)) {
    inference_.start(
        archive, options, OnnxInference::Gives::kScores,
        [this](const ImageTensor& image, auto& numbers) { classify(image, {}, numbers); });
  }

  const OnnxInference& inference() const { return inference_; }

  void classify(const ImageTensor& image, const FrameContext& frame, std::vector<float>& logits) {
    const Ort::Value output =
        output_.empty() ? choose_output(image)
                        : std::move(inference_.run(image, frame, {output_.c_str()}).front());
    read_numbers(output, logits);
    check_scores(archive_, logits);
    add_opposite(inference_.spec(), logits);
  }

 private:
  // The scores among the outputs are known once all of them were there: a file need not tell their
  // sizes.
  Ort::Value choose_output(const ImageTensor& image) {
    const std::vector<const char*> names = inference_.all_outputs();
    std::vector<Ort::Value> values = inference_.run(image, {}, names);
    std::vector<NetworkOutput> outputs;
    for (std::size_t i = 0; i < names.size(); ++i) {
      outputs.push_back(describe_output(names[i], values[i]));
    }
    const std::size_t chosen = choose_scores(archive_, outputs, inference_.spec().labels.size());
    output_ = names[chosen];
    return std::move(values[chosen]);
  }

  std::filesystem::path archive_;
  OnnxInference inference_;
  std::string output_;  // that is the scores; empty before the first run
};

class OnnxClassifier : public Classifier {
 public:
  explicit OnnxClassifier(std::shared_ptr<OnnxModel> model) : model_(std::move(model)) {}

  const ModelSpec& spec() const override { return model_->inference().spec(); }
  const ModelFacts& facts() const override { return model_->inference().facts(); }
  int threads() const override { return model_->inference().threads(); }

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

std::vector<std::shared_ptr<Backbone>> open_onnx_backbones(const ModelArchive& base,
                                                           const ClassifierOptions& options,
                                                           int count) {
  const auto backbone =
      std::make_shared<OnnxEmbedder>(base, options, OnnxEmbedder::Purpose::kFrames);
  return std::vector<std::shared_ptr<Backbone>>(static_cast<std::size_t>(count), backbone);
}

}  // namespace lookout
