#include "pipeline/onnx/onnx_trainer.h"

#include <malloc.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

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
        spec_(spec_of_base(archive, contents, options.stated)),
        facts_(onnx_facts(contents)),
        session_(archive, std::max(1, options.threads), options.operator_libraries) {
    const auto& outputs = session_.outputs();
    if (std::find(outputs.begin(), outputs.end(), kFeatures) == outputs.end()) {
      refuse_model(
          archive_,
          "cannot be trained further: it has no output \"features\", from which its last layer "
          "makes the scores; create it again with models/export.py");
    }
    malloc_trim(0);  // frees the memory of loading
  }

  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }

  void embed(const ImageTensor& image, std::vector<float>& embedding) override {
    const Ort::Value output =
        session_.run(image.values, shape_of(image, spec_.input.layout), kFeatures);
    const Ort::TensorTypeAndShapeInfo info = output.GetTensorTypeAndShapeInfo();
    const auto shape = info.GetShape();
    const bool row = shape.size() == 2 && shape[0] == 1 && shape[1] > 0;
    if (!row || info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
      refuse_model(archive_, "its features are no row of floats");
    }
    const auto* values = output.GetTensorData<float>();
    embedding.assign(values, values + shape[1]);
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
  std::filesystem::path archive_;
  std::string base_;  // the file
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
