// Scores for a picture. Implemented by TorchClassifier, and by fakes in tests/.
#pragma once

#include <vector>

#include "pipeline/model/model_spec.h"
#include "pipeline/model/preprocessor.h"

namespace lookout {

// Used by one thread at a time.
class Classifier {
 public:
  virtual ~Classifier() = default;

  // Valid as long as the classifier.
  virtual const ModelSpec& spec() const = 0;

  // `image` has the size of spec().input; it is of floats, or of bytes if spec().input has a
  // quantization, which is faster and gives the same. `logits` becomes one score for each label,
  // before softmax. Throws Error(kBadData) when the model fails.
  virtual void classify(const ImageTensor& image, std::vector<float>& logits) = 0;
};

}  // namespace lookout
