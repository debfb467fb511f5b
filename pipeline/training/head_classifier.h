// A head behind its base.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/classifier.h"
#include "pipeline/training/backbone.h"
#include "pipeline/training/head_file.h"

namespace lookout {

// The description of the classifier that the head in `file` makes of its base, as `labels`, unless
// they are nothing or empty, and `stated` change it. Layout and quantization are those of the base.
// Throws Error(kBadData) when they do not fit the head.
ModelSpec read_spec(const std::filesystem::path& file, const HeadFile& head,
                    const std::optional<std::vector<std::string>>& labels,
                    const StatedModel& stated);

// The options with which the base of a head is loaded: its input is the one that the head was
// trained with, unless `options` state another.
ClassifierOptions base_options(const HeadFile& head, const ClassifierOptions& options);

// Gives the labels of the archive that Trainer::write() makes of the same training, and its scores
// within 1e-5. The head's part costs no engine.
class HeadClassifier : public Classifier {
 public:
  // `file`: of the head, for errors. Several heads may have one backbone if one thread at a time
  // uses all of them. `options`: labels and `stated` are used. Nothing is run, so that another
  // thread may use the backbone meanwhile. Throws Error(kBadData) when the backbone gives other
  // numbers than the head takes, and for labels that do not fit.
  HeadClassifier(std::filesystem::path file, std::shared_ptr<const HeadFile> head,
                 std::shared_ptr<Backbone> backbone, const ClassifierOptions& options);

  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }
  int threads() const override { return backbone_->threads(); }

  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override;

  // The part of classify() after Backbone::embed(), whose numbers several heads can take.
  void score(const std::vector<float>& embedding, const std::vector<float>& base_scores,
             std::vector<float>& scores);

 private:
  std::filesystem::path file_;
  std::shared_ptr<const HeadFile> head_;
  std::shared_ptr<Backbone> backbone_;
  ModelSpec spec_;
  ModelFacts facts_;
  std::vector<float> embedding_;
  std::vector<float> base_scores_;
};

}  // namespace lookout
