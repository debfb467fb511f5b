// What a picture counts as in a training: several views of it, each with an embedding.
#pragma once

#include <cstddef>
#include <opencv2/core/mat.hpp>
#include <string>
#include <vector>

#include "pipeline/model/preprocessor.h"
#include "pipeline/training/embeddings.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// What a picture counts as, besides itself.
enum class Variants {
  kNone,
  kUsual,     // cut a little on all sides, darker and lighter
  kMirrored,  // and mirrored
};

// The views of kUsual, in words that change with them.
std::string usual_views();

// Used by one thread.
class PictureViews {
 public:
  // `view`: of the pictures, as a run has it. `trainer` outlives this.
  PictureViews(Trainer& trainer, const View& view, Variants variants);

  // Of each picture.
  std::size_t count() const { return views_.size() + lights_.size(); }

  // Appends a row for each view, the picture as it is first: directions, and profiles where the
  // base has them. Changes `bgr`. Throws the trainer's errors.
  void embed(cv::Mat& bgr, Embeddings& directions, Embeddings& profiles);

 private:
  Trainer& trainer_;
  std::vector<Preprocessor> views_;
  std::vector<double> lights_;  // each changes what the one before left
  ImageTensor image_;
  std::vector<float> embedding_;
  std::vector<float> base_scores_;
};

}  // namespace lookout
