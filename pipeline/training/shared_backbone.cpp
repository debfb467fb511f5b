#include "pipeline/training/shared_backbone.h"

#include <algorithm>

namespace lookout {
namespace {

// Bytes, so that no number differs from itself.
template <typename T>
bool same_bytes(const std::vector<T>& one, const std::vector<T>& other) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(one.data());
  return one.size() == other.size() &&
         std::equal(bytes, bytes + one.size() * sizeof(T),
                    reinterpret_cast<const unsigned char*>(other.data()));
}

bool is_same(const ImageTensor& one, const ImageTensor& other) {
  return one.width == other.width && one.height == other.height &&
         same_bytes(one.bytes, other.bytes) && same_bytes(one.values, other.values);
}

}  // namespace

void SharedBackbone::embed(const ImageTensor& image, const FrameContext& frame,
                           std::vector<float>& embedding, std::vector<float>& base_scores) {
  if (!has_last_ || last_frame_ != frame.sequence || !is_same(image, last_image_)) {
    has_last_ = false;  // should the base fail
    backbone_->embed(image, frame, last_embedding_, last_base_scores_);
    last_frame_ = frame.sequence;
    last_image_ = image;
    has_last_ = true;
  }
  embedding = last_embedding_;
  base_scores = last_base_scores_;
}

}  // namespace lookout
