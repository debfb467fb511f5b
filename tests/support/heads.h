// Heads for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "pipeline/training/head_file.h"

namespace lookout {

// A head of two classes and "unknown", for embeddings of `width` numbers, that was trained on no
// pictures. With `profiles` its examples are of a base of so many classes.
inline HeadFile small_head(std::size_t width, std::size_t profiles = 0) {
  HeadFile head;
  head.base = {"small", std::string(64, 'a'), 1234};
  TrainedModel& model = head.model;
  model.classes = 2;
  model.head.outputs = 2;
  for (std::size_t i = 0; i < 2 * width; ++i) {
    model.head.weights.push_back(static_cast<float>(std::sin(i)));
  }
  model.head.biases = {0.25F, -0.1F};
  OodDetector& detector = model.detector;
  detector.of_profiles = profiles > 0;
  detector.threshold = 0.3F;
  detector.steepness = 7;
  for (int example = 1; example < 5; ++example) {
    std::vector<float> row;
    for (std::size_t i = 0; i < (profiles > 0 ? profiles : width); ++i) {
      row.push_back(static_cast<float>(std::sin(static_cast<double>(i) * example)));
    }
    detector.examples.add(row);
  }
  model.metadata = R"({
  "name": "gate",
  "input": {
    "width": 8,
    "height": 8,
    "mean": [
      0.485,
      0.456,
      0.406
    ],
    "std": [
      0.229,
      0.224,
      0.225
    ],
    "channel_order": "RGB",
    "resize": "stretch"
  },
  "output": "probabilities",
  "unknown": 2,
  "quantization": "none",
  "producer": {
    "lookout": "1"
  },
  "weights": "made up",
  "trained": true
}
)";
  model.labels = "open\nclosed\nunknown\n";
  model.producer_info = "{\n  \"pictures\": 46\n}\n";
  return head;
}

}  // namespace lookout
