#include "pipeline/torch/torch_embedder.h"

#include <malloc.h>

#include "pipeline/torch/torch_backbone.h"
#include "pipeline/torch/torch_failure.h"
#include "pipeline/training/trainer.h"

namespace lookout {

TorchEmbedder::TorchEmbedder(const ModelArchive& archive, const ClassifierOptions& options,
                             Purpose purpose)
    : archive_(archive.path()),
      inference_(archive, spec_of_base(archive, read_contents(archive), options.stated), options),
      unit_(std::make_shared<torch::jit::CompilationUnit>()) {
  const auto cut_network = [this](const torch::jit::Module& network) { return cut(network); };
  if (purpose == Purpose::kTraining) {
    inference_.load(archive, options, cut_network);
    malloc_trim(0);
    return;
  }
  inference_.start(archive, options, cut_network,
                   [this](const ImageTensor& image, std::vector<float>& embedding) {
                     std::vector<float> base_scores;
                     embed(image, {}, embedding, base_scores);
                     width_ = embedding.size();
                     base_classes_ = base_scores.size();
                   });
  module_ = torch::jit::Module();
  unit_.reset();
}

torch::jit::Module TorchEmbedder::cut(const torch::jit::Module& network) {
  try {
    module_ = make_backbone(network, unit_);
    return module_;
  } catch (const std::exception& error) {
    refuse_model(archive_, "cannot be trained further: " + first_sentence(error));
  }
}

void TorchEmbedder::embed(const ImageTensor& image, const FrameContext& frame,
                          std::vector<float>& embedding, std::vector<float>& base_scores) {
  inference_.run(image, frame, [&](const c10::IValue& output) {
    base_scores.clear();
    if (!output.isTuple()) {
      take_row(output, embedding);
      return;
    }
    const auto& pair = output.toTupleRef().elements();
    take_row(pair[0], embedding);
    take_row(pair[1], base_scores);
  });
}

void TorchEmbedder::take_row(const c10::IValue& output, std::vector<float>& row) const {
  if (!output.isTensor()) refuse_model(archive_, "gives no tensor to its last layer");
  const at::Tensor& values = output.toTensor();
  const bool is_row = values.dim() == 2 && values.size(0) == 1 && values.size(1) > 0;
  if (!is_row || values.scalar_type() != at::kFloat) {
    refuse_model(archive_, "its last layer takes a tensor of " + c10::str(values.sizes()) +
                               " instead of one row of numbers");
  }
  const at::Tensor contiguous = values.detach().contiguous();
  const float* begin = contiguous.data_ptr<float>();
  row.assign(begin, begin + contiguous.numel());
}

}  // namespace lookout
