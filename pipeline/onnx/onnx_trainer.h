// Trains new last layers for ONNX models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/model/archive.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// The base needs an output "features", from which its last layer makes the scores: export.py writes
// it.
class OnnxTrainer : public Trainer {
 public:
  // `threads`: that compute an embedding. Throws what open_trainer() throws.
  OnnxTrainer(const ModelArchive& archive, int threads);
  ~OnnxTrainer() override;

  const ModelSpec& spec() const override;
  const ModelFacts& facts() const override;
  void embed(const ImageTensor& image, std::vector<float>& embedding) override;
  std::string write(const TrainedModel& model) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lookout
