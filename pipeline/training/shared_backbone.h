// A backbone of several heads.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/training/backbone.h"

namespace lookout {

// Heads that look at the same part of a frame take one inference: embed() gives the numbers of the
// call before when it gets the same image of the same frame again, which costs a comparison. Images
// of different frames are always computed.
class SharedBackbone : public Backbone {
 public:
  explicit SharedBackbone(std::shared_ptr<Backbone> backbone) : backbone_(std::move(backbone)) {}

  const ModelSpec& spec() const override { return backbone_->spec(); }
  const ModelFacts& facts() const override { return backbone_->facts(); }
  int threads() const override { return backbone_->threads(); }
  std::size_t width() const override { return backbone_->width(); }
  std::size_t base_classes() const override { return backbone_->base_classes(); }

  void embed(const ImageTensor& image, const FrameContext& frame, std::vector<float>& embedding,
             std::vector<float>& base_scores) override;

 private:
  std::shared_ptr<Backbone> backbone_;
  bool has_last_ = false;
  std::uint64_t last_frame_ = 0;
  ImageTensor last_image_;
  std::vector<float> last_embedding_;
  std::vector<float> last_base_scores_;
};

}  // namespace lookout
