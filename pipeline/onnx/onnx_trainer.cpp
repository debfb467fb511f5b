#include "pipeline/onnx/onnx_trainer.h"

#include <malloc.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/onnx/onnx_head.h"
#include "pipeline/onnx/onnx_session.h"

namespace lookout {

namespace {

class OnnxTrainer : public Trainer {
 public:
  OnnxTrainer(const ModelArchive& archive, const ArchiveContents& contents,
              const TrainerOptions& options)
      : archive_(archive.path()),
        base_(archive.bytes()),
        operators_(options.operator_libraries),
        spec_(spec_of_base(archive, contents, options.stated)),
        facts_(onnx_facts(contents)),
        session_(archive, OnnxThreads{std::max(1, options.threads)}, options.operator_libraries) {
    const auto& outputs = session_.outputs();
    if (std::find(outputs.begin(), outputs.end(), kFeatures) == outputs.end()) {
      refuse_model(
          archive_,
          "cannot be trained further: it has no output \"features\", from which its last layer "
          "makes the scores; create it again with models/export.py");
    }
    find_scores();
    malloc_trim(0);  // frees the memory of loading
  }

  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }

  void embed(const ImageTensor& image, std::vector<float>& embedding,
             std::vector<float>& base_scores) override {
    std::vector<const char*> names{kFeatures};
    if (scores_ != nullptr) names.push_back(scores_);
    const auto outputs = session_.run(image.values, shape_of(image, spec_.input.layout), names);
    embedding = row_of(outputs[0]);
    base_scores.clear();
    if (scores_ != nullptr) base_scores = row_of(outputs[1]);
    if (base_scores.size() < kLeastClassesOfProfiles) base_scores.clear();
  }

  Embeddings class_rows() const override {
    if (scores_ == nullptr) return {};
    const auto weights = last_weights(base_, scores_);
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
    const InputSpec& input = spec_.input;
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

  // Where the last linear layer's outputs come out, if they do.
  void find_scores() {
    const auto& outputs = session_.outputs();
    const auto has = [&outputs](const char* name) {
      return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    };
    if (has(kBaseScores)) {
      scores_ = kBaseScores;
    } else if (has(kLogits) && last_weights(base_, kLogits)) {
      scores_ = kLogits;
    }
  }

  std::vector<float> row_of(const Ort::Value& output) const {
    const Ort::TensorTypeAndShapeInfo info = output.GetTensorTypeAndShapeInfo();
    const auto shape = info.GetShape();
    const bool row = shape.size() == 2 && shape[0] == 1 && shape[1] > 0;
    if (!row || info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
      refuse_model(archive_, "its features are no row of floats");
    }
    const auto* values = output.GetTensorData<float>();
    return {values, values + shape[1]};
  }

  std::filesystem::path archive_;
  std::string base_;  // the file
  std::vector<std::string> operators_;
  const char* scores_ = nullptr;  // the output; null: none
  ModelSpec spec_;
  ModelFacts facts_;
  OnnxSession session_;
};

}  // namespace

std::unique_ptr<Trainer> open_onnx_trainer(const ModelArchive& archive,
                                           const TrainerOptions& options) {
  return std::make_unique<OnnxTrainer>(archive, read_contents(archive), options);
}

}  // namespace lookout
