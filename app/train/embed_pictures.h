// Makes embeddings of the pictures that a model is trained with.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "app/train/progress.h"
#include "app/train/train_pictures.h"
#include "pipeline/model/preprocessor.h"
#include "pipeline/training/trainer.h"
#include "pipeline/training/training_set.h"

namespace lookout {

struct EmbeddedPictures {
  TrainPictures pictures;  // without those that cannot be read
  TrainingSet set;
  std::vector<float> brightness;  // of each picture: its mean, 0..255
  std::size_t skipped = 0;        // that cannot be read
};

// What a picture counts as, besides itself.
enum class Variants {
  kNone,
  kUsual,     // cut a little on all sides, darker and lighter
  kMirrored,  // and mirrored
};

// One picture is in memory at a time. Throws Interrupted when `stop` becomes true,
// Error(kBadData) when more than a tenth of the pictures cannot be read, and the trainer's errors.
EmbeddedPictures embed_pictures(const TrainPictures& pictures, const View& view, Variants variants,
                                Trainer& trainer, ProgressLine& progress,
                                const std::atomic<bool>& stop);

}  // namespace lookout
