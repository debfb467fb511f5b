// What a trained model says of itself: metadata.json.
#pragma once

#include <cstddef>
#include <string>

#include "pipeline/core/model_spec.h"

namespace lookout {

struct TrainedFacts {
  std::string name;          // of the model
  std::size_t classes = 0;   // without "unknown"
  std::size_t pictures = 0;  // that it was trained with
  std::string base_sha256;   // of the base's file
};

std::string model_metadata(const TrainedFacts& facts, const ModelSpec& base);

}  // namespace lookout
