// The pictures that a model is trained with, as embeddings.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/training/embeddings.h"

namespace lookout {

struct TrainingSet {
  std::size_t classes = 0;  // without the counter-examples
  std::size_t views = 1;    // of each picture; the first one is the picture as it is
  // Of each picture; `classes` for a counter-example, a picture of something else.
  std::vector<std::size_t> picture_classes;
  Embeddings embeddings;  // row `picture * views + view`
  // Whether classes weigh the same in the training and in what is chosen for it, however many
  // pictures they have; else pictures do.
  bool equal_classes = true;
  // The same rows, as profile_of(); empty when the base has none.
  Embeddings profiles;

  std::size_t pictures() const { return picture_classes.size(); }
  std::size_t row(std::size_t picture, std::size_t view = 0) const {
    return picture * views + view;
  }
  // Foreign scenes, for the threshold of "unknown" alone, as ood_features(): of foreign_profiles(),
  // and of pictures of none of the classes. Either may be empty.
  Embeddings foreign;
  Embeddings other;

  // What similarity is measured with.
  const Embeddings& ood_features() const { return profiles.size() > 0 ? profiles : embeddings; }
  bool is_counter_example(std::size_t picture) const { return picture_classes[picture] == classes; }
  bool has_counter_examples() const;
  // The weight of each picture; 0 of those that are not to be used.
  std::vector<float> weights(const std::vector<bool>& use) const;
  // Of the head: one more with counter-examples.
  std::size_t outputs() const { return classes + (has_counter_examples() ? 1 : 0); }
};

}  // namespace lookout
