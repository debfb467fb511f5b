// A base without its last layer: what the heads of one base share. Each engine implements Backbone
// in its folder, as do the fakes in tests/.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/core/classifier.h"
#include "pipeline/core/input_spec.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

// embed() is used by one thread at a time, which need not be the one that constructed it. All else
// may be called by any thread.
class Backbone {
 public:
  virtual ~Backbone() = default;

  // Of the base, without labels. Valid as long as the backbone.
  virtual const ModelSpec& spec() const = 0;
  virtual const ModelFacts& facts() const = 0;

  // Number of threads that compute at the moment.
  virtual int threads() const = 0;

  // How many numbers embed() gives, each time: of an embedding, and of base scores (0: none).
  virtual std::size_t width() const = 0;
  virtual std::size_t base_classes() const = 0;

  // `image` as for Classifier::classify(). Overwrites `embedding`, what the base's last layer
  // takes, and `base_scores`: what that layer makes of it, before softmax. These are empty when the
  // base has fewer than kLeastClassesOfProfiles classes. Throws Error(kBadData) when the base
  // fails.
  virtual void embed(const ImageTensor& image, const FrameContext& frame,
                     std::vector<float>& embedding, std::vector<float>& base_scores) = 0;
};

}  // namespace lookout
