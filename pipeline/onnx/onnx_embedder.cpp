#include "pipeline/onnx/onnx_embedder.h"

#include <malloc.h>

#include <algorithm>
#include <string_view>

#include "pipeline/onnx/onnx_head.h"
#include "pipeline/training/ood_detector.h"
#include "pipeline/training/trainer.h"

namespace lookout {

OnnxEmbedder::OnnxEmbedder(const ModelArchive& archive, const ClassifierOptions& options,
                           Purpose purpose)
    : archive_(archive.path()),
      inference_(archive, spec_of_base(archive, read_contents(archive), options.stated)) {
  if (purpose == Purpose::kTraining) {
    inference_.load(archive, options);
    find_outputs(archive);
    malloc_trim(0);  // frees the memory of loading
    return;
  }
  inference_.start(archive, options, OnnxInference::Gives::kEmbeddings,
                   [&](const ImageTensor& image, std::vector<float>& embedding) {
                     if (outputs_.empty()) find_outputs(archive);
                     std::vector<float> base_scores;
                     embed(image, {}, embedding, base_scores);
                     width_ = embedding.size();
                     base_classes_ = base_scores.size();
                   });
}

// Base scores are where the last linear layer's outputs come out, if they do.
void OnnxEmbedder::find_outputs(const ModelArchive& archive) {
  const std::vector<const char*> outputs = inference_.all_outputs();
  const auto has = [&outputs](std::string_view name) {
    return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
  };
  if (!has(kFeatures)) {
    refuse_model(archive_,
                 "cannot be trained further: it has no output \"features\", from which its last "
                 "layer makes the scores; create it again with models/export.py");
  }
  outputs_ = {kFeatures};
  if (has(kBaseScores)) {
    outputs_.push_back(kBaseScores);
  } else if (has(kLogits) && last_weights(archive.bytes(), kLogits)) {
    outputs_.push_back(kLogits);
  }
}

void OnnxEmbedder::embed(const ImageTensor& image, const FrameContext& frame,
                         std::vector<float>& embedding, std::vector<float>& base_scores) {
  const std::vector<Ort::Value> values = inference_.run(image, frame, outputs_);
  take_row(values[0], embedding);
  base_scores.clear();
  if (values.size() > 1) take_row(values[1], base_scores);
  if (base_scores.size() < kLeastClassesOfProfiles) base_scores.clear();
}

void OnnxEmbedder::take_row(const Ort::Value& output, std::vector<float>& row) const {
  const Ort::TensorTypeAndShapeInfo info = output.GetTensorTypeAndShapeInfo();
  const auto shape = info.GetShape();
  const bool is_row = shape.size() == 2 && shape[0] == 1 && shape[1] > 0;
  if (!is_row || info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
    refuse_model(archive_, "its features are no row of floats");
  }
  const auto* values = output.GetTensorData<float>();
  row.assign(values, values + shape[1]);
}

}  // namespace lookout
