#include "pipeline/torch/torch_trainer.h"

#include <torch/csrc/jit/serialization/export.h>
#include <torch/script.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "pipeline/torch/torch_backbone.h"
#include "pipeline/torch/torch_embedder.h"

namespace lookout {
namespace {

// Scores are calibrated. A scene that is unlike all examples is unknown; counter-examples, when
// there are any, are the last output of the head. A BLAS would take these few products to threads,
// which then wait for the next in a loop: on aarch64 that took as long as a tenth of the network.
constexpr const char* kEmbed = R"py(
def forward(self, x):
    embedding = self.backbone.forward(x)
    length = torch.norm(embedding, 2, [1], True)
    row = torch.unsqueeze(torch.div(embedding, torch.clamp_min(length, 1e-12)), 1)
    familiar = row
)py";
// As profile_of().
constexpr const char* kEmbedWithProfile = R"py(
def forward(self, x):
    embedding, base_scores = self.backbone.forward(x)
    length = torch.norm(embedding, 2, [1], True)
    row = torch.unsqueeze(torch.div(embedding, torch.clamp_min(length, 1e-12)), 1)
    centered = torch.sub(base_scores, torch.mean(base_scores, [1], True))
    deviation = torch.sqrt(torch.mean(torch.mul(centered, centered), [1], True))
    above = torch.sub(torch.div(centered, torch.clamp_min(deviation, 1e-12)), 1.0)
    profile = torch.clamp_min(above, 0.0)
    size = torch.norm(profile, 2, [1], True)
    familiar = torch.unsqueeze(torch.div(profile, torch.clamp_min(size, 1e-12)), 1)
)py";
constexpr const char* kScore = R"py(
    scores = torch.softmax(torch.add(torch.sum(torch.mul(row, self.weight), [2]), self.bias), 1)
    cosines = torch.sum(torch.mul(familiar, self.examples), [2])
    similarity = torch.mean(torch.topk(cosines, self.neighbours)[0], [1], True)
    unknown = torch.sigmoid(torch.mul(torch.sub(self.threshold, similarity), self.steepness))
    known = torch.mul(torch.narrow(scores, 1, 0, self.classes), torch.rsub(unknown, 1))
    rest = torch.clamp_min(torch.rsub(torch.sum(known, [1], True), 1), 0.0)
    return torch.cat([known, rest], 1)
)py";

std::string forward_of(const OodDetector& detector) {
  const std::string begin = detector.of_profiles ? kEmbedWithProfile : kEmbed;
  return begin.substr(0, begin.size() - 1) + kScore;
}

at::Tensor tensor_of(const std::vector<float>& values, std::size_t rows) {
  const auto count = static_cast<std::int64_t>(rows);
  const auto size = static_cast<std::int64_t>(values.size());
  return torch::tensor(values).reshape({count, count == 0 ? 0 : size / count});
}

// While it lives, modules that the process saves get the file.
class ExtraFile {
 public:
  ExtraFile(const std::string& name, const std::string& content) {
    torch::jit::SetExportModuleExtraFilesHook([name, content](const torch::jit::Module&) {
      return torch::jit::ExtraFilesMap{{name, content}};
    });
  }
  ~ExtraFile() { torch::jit::SetExportModuleExtraFilesHook(nullptr); }
  ExtraFile(const ExtraFile&) = delete;
  ExtraFile& operator=(const ExtraFile&) = delete;
};

ClassifierOptions to_classifier_options(const TrainerOptions& options) {
  ClassifierOptions same;
  same.threads = options.threads;
  same.keep_threads = true;
  same.operator_libraries = options.operator_libraries;
  same.stated = options.stated;
  return same;
}

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(const ModelArchive& archive, const TrainerOptions& options)
      : embedder_(archive, to_classifier_options(options), TorchEmbedder::Purpose::kTraining) {}

  const ModelSpec& spec() const override { return embedder_.spec(); }
  const ModelFacts& facts() const override { return embedder_.facts(); }

  void embed(const ImageTensor& image, std::vector<float>& embedding,
             std::vector<float>& base_scores) override {
    embedder_.embed(image, {}, embedding, base_scores);
  }

  Embeddings class_rows() const override {
    const c10::InferenceMode inference;
    const at::Tensor weights = last_weights(embedder_.module());
    Embeddings rows;
    if (!weights.defined()) return rows;
    const auto width = static_cast<std::size_t>(weights.size(1));
    const auto classes = static_cast<std::size_t>(weights.size(0));
    const float* values = weights.data_ptr<float>();
    for (std::size_t c = 0; c < classes; ++c) rows.add_row(values + c * width, width);
    return rows;
  }

  std::string write(const TrainedModel& model) override {
    torch::jit::Module trained("__torch__.lookout.Trained", embedder_.unit(),
                               /*shouldMangle=*/true);
    trained.register_attribute("training", c10::BoolType::get(), false);
    trained.register_module(kBackbone, embedder_.module());
    trained.register_parameter("weight", tensor_of(model.head.weights, model.head.outputs), false);
    trained.register_parameter("bias", torch::tensor(model.head.biases), false);
    const OodDetector& detector = model.detector;
    const Embeddings& examples = detector.examples;
    trained.register_parameter("examples", tensor_of(examples.values(), examples.size()), false);
    trained.register_buffer("threshold", torch::tensor(detector.threshold));
    trained.register_buffer("steepness", torch::tensor(detector.steepness));
    const std::size_t neighbours = std::min(detector.neighbours, examples.size());
    trained.register_attribute("neighbours", c10::IntType::get(),
                               static_cast<std::int64_t>(neighbours));
    trained.register_attribute("classes", c10::IntType::get(),
                               static_cast<std::int64_t>(model.classes));
    trained.define(forward_of(detector));
    const ExtraFile producer_info("producer_info.json", model.producer_info);
    std::ostringstream bytes;
    trained.save(bytes, {{"metadata.json", model.metadata}, {"labels.txt", model.labels}});
    return std::move(bytes).str();
  }

 private:
  TorchEmbedder embedder_;
};

}  // namespace

std::unique_ptr<Trainer> open_torch_trainer(const ModelArchive& archive,
                                            const TrainerOptions& options) {
  return std::make_unique<TorchTrainer>(archive, options);
}

}  // namespace lookout
