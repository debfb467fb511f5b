#include "pipeline/training/head_classifier.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/archive/archive.h"
#include "pipeline/model/network_output.h"
#include "pipeline/training/cross_validation.h"

namespace lookout {
namespace {

void check_sizes(const std::filesystem::path& file, const HeadFile& head,
                 const Backbone& backbone) {
  const std::size_t width = head.model.head.weights.size() / head.model.head.outputs;
  const OodDetector& detector = head.model.detector;
  const std::size_t compared = detector.of_profiles ? backbone.base_classes() : backbone.width();
  if (width == backbone.width() && detector.examples.width() == compared) return;
  refuse_model(file, fmt::format("does not fit its base {}, which gives other numbers: train it "
                                 "again",
                                 backbone.spec().name));
}

Embeddings direction_of(const std::vector<float>& numbers) {
  Embeddings row;
  row.add(numbers);
  return row;
}

}  // namespace

ModelSpec read_spec(const std::filesystem::path& file, const HeadFile& head,
                    const std::optional<std::vector<std::string>>& labels,
                    const StatedModel& stated) {
  ModelSpec spec = spec_of(head);
  const std::size_t outputs = spec.labels.size();
  if (labels && !labels->empty()) spec.labels = *labels;
  if (spec.labels.size() != outputs) {
    refuse_model(
        file, fmt::format("gives {} scores, but there are {} labels", outputs, spec.labels.size()));
  }
  if (stated.output && stated.output != spec.output) {
    refuse_model(file, fmt::format("its output is said to be {}, but a head gives {}; leave out "
                                   "what it is",
                                   to_text(*stated.output), to_text(*spec.output)));
  }
  apply(stated, spec);
  return spec;
}

ClassifierOptions base_options(const HeadFile& head, const ClassifierOptions& options) {
  ModelSpec spec = spec_of(head);
  apply(options.stated, spec);
  ClassifierOptions of_base = options;
  of_base.labels.reset();
  of_base.stated = {};
  of_base.stated.size = {spec.input.width, spec.input.height};
  of_base.stated.normalisation = {PixelScale::kUnit, spec.input.mean, spec.input.std};
  of_base.stated.channels = spec.input.channel_order;
  return of_base;
}

HeadClassifier::HeadClassifier(std::filesystem::path file, std::shared_ptr<const HeadFile> head,
                               std::shared_ptr<Backbone> backbone, const ClassifierOptions& options)
    : file_(std::move(file)),
      head_(std::move(head)),
      backbone_(std::move(backbone)),
      spec_(read_spec(file_, *head_, options.labels, options.stated)),
      facts_(backbone_->facts()) {
  check_sizes(file_, *head_, *backbone_);
  const InputSpec& input = backbone_->spec().input;
  spec_.input.width = input.width;  // a fixed size of the base always holds
  spec_.input.height = input.height;
  spec_.input.layout = input.layout;
  spec_.input.quantization = input.quantization;
  spec_.input.flip_x = input.flip_x;
  spec_.input.flip_y = input.flip_y;
  if (facts_.parameters > 0) facts_.parameters += parameters_of(*head_);
}

void HeadClassifier::classify(const ImageTensor& image, const FrameContext& frame,
                              std::vector<float>& logits) {
  backbone_->embed(image, frame, embedding_, base_scores_);
  score(embedding_, base_scores_, logits);
}

void HeadClassifier::score(const std::vector<float>& embedding,
                           const std::vector<float>& base_scores, std::vector<float>& scores) {
  const TrainedModel& model = head_->model;
  const Embeddings direction = direction_of(embedding);
  if (model.detector.of_profiles) {
    const Embeddings profile = direction_of(profile_of(base_scores));
    scores = scores_of(model, direction[0], profile[0], dot_of_frame);
  } else {
    scores = scores_of(model, direction[0], direction[0], dot_of_frame);
  }
  check_scores(file_, scores);
}

}  // namespace lookout
