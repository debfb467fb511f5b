// The backbone of a TorchScript archive. Included by pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/torch/torch_inference.h"
#include "pipeline/training/backbone.h"

namespace lookout {

class TorchEmbedder : public Backbone {
 public:
  enum class Purpose {
    kFrames,    // it is run until it is warm
    kTraining,  // module() is needed; width() and base_classes() are not known
  };

  // Loads the base and cuts it before its last layer. Throws as open_torch_model(), and
  // Error(kBadData) when it cannot be cut.
  TorchEmbedder(const ModelArchive& archive, const ClassifierOptions& options, Purpose purpose);

  const ModelSpec& spec() const override { return inference_.spec(); }
  const ModelFacts& facts() const override { return inference_.facts(); }
  int threads() const override { return inference_.threads(); }
  std::size_t width() const override { return width_; }
  std::size_t base_classes() const override { return base_classes_; }
  void embed(const ImageTensor& image, const FrameContext& frame, std::vector<float>& embedding,
             std::vector<float>& base_scores) override;

  // Of make_backbone(), not frozen.
  const torch::jit::Module& module() const { return module_; }
  const std::shared_ptr<torch::jit::CompilationUnit>& unit() const { return unit_; }

 private:
  torch::jit::Module cut(const torch::jit::Module& network);
  void take_row(const c10::IValue& output, std::vector<float>& row) const;

  std::filesystem::path archive_;
  TorchInference inference_;
  std::shared_ptr<torch::jit::CompilationUnit> unit_;
  torch::jit::Module module_;
  std::size_t width_ = 0;
  std::size_t base_classes_ = 0;
};

}  // namespace lookout
