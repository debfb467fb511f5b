// An ONNX model on ONNX Runtime's processor kernels.
#pragma once

#include <memory>
#include <vector>

#include "pipeline/classifier.h"
#include "pipeline/model/archive.h"
#include "pipeline/model/engine_facts.h"

namespace lookout {

EngineFacts onnxruntime_facts();

class OnnxModel;

// Takes images of floats in the layout of the model. The number of threads is chosen when the model
// is loaded, and stays: ONNX Runtime makes its threads then. They sleep when there is nothing to
// compute. Samples no operators.
class OnnxClassifier : public Classifier {
 public:
  // Loads the model and runs it until it is warm; the classifiers share its weights, and may work
  // at the same time. Throws what open_models() throws.
  static std::vector<std::unique_ptr<Classifier>> open(const ModelArchive& archive,
                                                       const ClassifierOptions& options, int count);

  explicit OnnxClassifier(std::shared_ptr<OnnxModel> model);
  ~OnnxClassifier() override;

  const ModelSpec& spec() const override;
  const ModelFacts& facts() const override;
  int threads() const override;
  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override;

 private:
  std::shared_ptr<OnnxModel> model_;
};

}  // namespace lookout
