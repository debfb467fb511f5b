#include "pipeline/onnx/onnx_trainer.h"

#include <malloc.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "pipeline/onnx/onnx_head.h"
#include "pipeline/onnx/onnx_session.h"

namespace lookout {

class OnnxTrainer::Impl {
 public:
  Impl(const ModelArchive& archive, int threads)
      : archive_(archive.path()), base_(archive.bytes()), session_(archive, std::max(1, threads)) {
    ArchiveContents contents = read_contents(archive);
    contents.class_ids.clear();  // neither these nor the labels are used
    const bool has_labels = is_described(contents) && !contents.labels.empty();
    spec_ = has_labels ? read_spec(archive, contents, std::nullopt)
                       : read_spec(archive, contents, std::vector<std::string>());
    facts_ = onnx_facts(contents);
    const auto& outputs = session_.outputs();
    if (std::find(outputs.begin(), outputs.end(), kFeatures) == outputs.end()) {
      refuse_model(
          archive_,
          "cannot be trained further: it has no output \"features\", from which its last layer "
          "makes the scores; create it again with models/export.py");
    }
    malloc_trim(0);
  }

  void embed(const ImageTensor& image, std::vector<float>& embedding) {
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

  std::string write(const TrainedModel& model) const {
    std::map<std::string, std::string> texts{{"lookout.metadata", model.metadata},
                                             {"lookout.labels", model.labels}};
    if (!model.producer_info.empty()) texts["lookout.producer_info"] = model.producer_info;
    try {
      return with_head(base_, model, texts);
    } catch (const std::runtime_error& error) {
      refuse_model(archive_, error.what());
    }
  }

  ModelSpec spec_;
  ModelFacts facts_;

 private:
  std::filesystem::path archive_;
  std::string base_;  // the file
  OnnxSession session_;
};

OnnxTrainer::OnnxTrainer(const ModelArchive& archive, int threads)
    : impl_(std::make_unique<Impl>(archive, threads)) {}

OnnxTrainer::~OnnxTrainer() = default;

const ModelSpec& OnnxTrainer::spec() const { return impl_->spec_; }

const ModelFacts& OnnxTrainer::facts() const { return impl_->facts_; }

void OnnxTrainer::embed(const ImageTensor& image, std::vector<float>& embedding) {
  impl_->embed(image, embedding);
}

std::string OnnxTrainer::write(const TrainedModel& model) { return impl_->write(model); }

}  // namespace lookout
