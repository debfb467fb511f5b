// Trains new last layers for TorchScript archives with LibTorch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// The base's threads belong to the process, as those of TorchClassifier do. write() attaches
// producer_info.json by LibTorch's hook for files of saved modules.
class TorchTrainer : public Trainer {
 public:
  // Loads the base, which runs the archive's code, and cuts it before its last layer. Throws what
  // open_trainer() throws.
  TorchTrainer(const ModelArchive& archive, const TrainerOptions& options);
  ~TorchTrainer() override;

  const ModelSpec& spec() const override;
  const ModelFacts& facts() const override;
  void embed(const ImageTensor& image, std::vector<float>& embedding,
             std::vector<float>& base_scores) override;
  Embeddings class_rows() const override;
  std::string write(const TrainedModel& model) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lookout
