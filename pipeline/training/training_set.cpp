#include "pipeline/training/training_set.h"

#include <algorithm>

namespace lookout {

bool TrainingSet::has_counter_examples() const {
  return std::find(picture_classes.begin(), picture_classes.end(), classes) !=
         picture_classes.end();
}

}  // namespace lookout
