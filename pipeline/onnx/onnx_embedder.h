// The backbone of an ONNX model. Included by pipeline/onnx/*.cpp only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/onnx/onnx_inference.h"
#include "pipeline/training/backbone.h"

namespace lookout {

// embed() may be called by several threads at the same time once it is constructed.
class OnnxEmbedder : public Backbone {
 public:
  enum class Purpose {
    kFrames,    // it is run until it is warm
    kTraining,  // width() and base_classes() are not known
  };

  // Loads the base, which needs an output "features". Throws as open_onnx_models().
  OnnxEmbedder(const ModelArchive& archive, const ClassifierOptions& options, Purpose purpose);

  const ModelSpec& spec() const override { return inference_.spec(); }
  const ModelFacts& facts() const override { return inference_.facts(); }
  int threads() const override { return inference_.threads(); }
  std::size_t width() const override { return width_; }
  std::size_t base_classes() const override { return base_classes_; }
  void embed(const ImageTensor& image, const FrameContext& frame, std::vector<float>& embedding,
             std::vector<float>& base_scores) override;

  // The output of the base's last linear layer; null: it is none.
  const char* scores() const { return outputs_.size() > 1 ? outputs_[1] : nullptr; }

 private:
  void find_outputs(const ModelArchive& archive);
  void take_row(const Ort::Value& output, std::vector<float>& row) const;

  std::filesystem::path archive_;
  OnnxInference inference_;
  std::vector<const char*> outputs_;  // features, and perhaps base scores
  std::size_t width_ = 0;
  std::size_t base_classes_ = 0;
};

}  // namespace lookout
