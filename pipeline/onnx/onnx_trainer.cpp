#include "pipeline/onnx/onnx_trainer.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/onnx/onnx_embedder.h"
#include "pipeline/onnx/onnx_head.h"
#include "pipeline/onnx/onnx_session.h"

namespace lookout {

namespace {

ClassifierOptions to_classifier_options(const TrainerOptions& options) {
  ClassifierOptions same;
  same.threads = std::max(1, options.threads);
  same.keep_threads = true;
  same.operator_libraries = options.operator_libraries;
  same.stated = options.stated;
  return same;
}

class OnnxTrainer : public Trainer {
 public:
  OnnxTrainer(const ModelArchive& archive, const TrainerOptions& options)
      : archive_(archive.path()),
        base_(archive.bytes()),
        operators_(options.operator_libraries),
        embedder_(archive, to_classifier_options(options), OnnxEmbedder::Purpose::kTraining) {}

  const ModelSpec& spec() const override { return embedder_.spec(); }
  const ModelFacts& facts() const override { return embedder_.facts(); }

  void embed(const ImageTensor& image, std::vector<float>& embedding,
             std::vector<float>& base_scores) override {
    embedder_.embed(image, {}, embedding, base_scores);
  }

  Embeddings class_rows() const override {
    if (embedder_.scores() == nullptr) return {};
    const auto weights = last_weights(base_, embedder_.scores());
    if (!weights) return {};
    try {
      return read_rows(*weights);
    } catch (const Error&) {  // they are no floats
      return {};
    }
  }

  std::string write(const TrainedModel& model) override {
    std::map<std::string, std::string> texts{{"lookout.metadata", model.metadata},
                                             {"lookout.labels", model.labels}};
    if (!model.producer_info.empty()) texts["lookout.producer_info"] = model.producer_info;
    try {
      return with_head(base_, model, texts);
    } catch (const std::runtime_error& error) {
      refuse_model(archive_, error.what());
    }
  }

 private:
  Embeddings read_rows(const LastWeights& weights) const {
    Embeddings rows;
    OnnxSession session(archive_, weights.model, {}, operators_);
    const InputSpec& input = spec().input;
    ImageTensor blank;
    blank.width = input.width;
    blank.height = input.height;
    blank.values.resize(std::size_t{3} * static_cast<std::size_t>(input.width * input.height));
    const Ort::Value value = session.run(blank.values, shape_of(blank, input.layout), kWeights);
    const auto shape = value.GetTensorTypeAndShapeInfo().GetShape();
    if (shape.size() != 2) return rows;
    const auto height = static_cast<std::size_t>(shape[0]);
    const auto width = static_cast<std::size_t>(shape[1]);
    const std::size_t classes = weights.columns ? width : height;
    if (classes < kLeastClassesOfProfiles) return rows;
    const auto* table = value.GetTensorData<float>();
    std::vector<float> row(weights.columns ? height : width);
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = weights.columns ? table[i * width + c] : table[c * width + i];
      }
      rows.add_row(row.data(), row.size());
    }
    return rows;
  }

  std::filesystem::path archive_;
  std::string base_;  // the file
  std::vector<std::string> operators_;
  OnnxEmbedder embedder_;
};

}  // namespace

std::unique_ptr<Trainer> open_onnx_trainer(const ModelArchive& archive,
                                           const TrainerOptions& options) {
  return std::make_unique<OnnxTrainer>(archive, options);
}

}  // namespace lookout
