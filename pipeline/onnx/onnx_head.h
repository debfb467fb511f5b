// Gives an ONNX model another end.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/training/trainer.h"

namespace lookout {

// The output, and the name of the value, from which the last layer makes its scores: [1, width].
inline constexpr const char* kFeatures = "features";
inline constexpr const char* kLogits = "logits";
// What kLogits of the base is called in a model that was trained, where it makes profiles.
inline constexpr const char* kBaseScores = "base_scores";

// The ONNX file `base` with a head behind kFeatures that gives, as kLogits, the probabilities of
// the classes and of "unknown". What led to other outputs is left out; kFeatures stays an output,
// and with a detector of profiles the base's scores, as kBaseScores.
// `texts` become its metadata_props, in place of the base's. The operators are those of opset 11
// and later. Throws std::runtime_error when `base` is no ONNX file.
std::string with_head(std::string_view base, const TrainedModel& model,
                      const std::map<std::string, std::string>& texts);

// The weights of the linear layer that makes the base's scores `scores`, as a model of their own:
// its only output is called kWeights. They are [width, classes] if `columns`, else [classes,
// width]. Nothing when the scores are made otherwise.
struct LastWeights {
  std::string model;
  bool columns = false;
};
inline constexpr const char* kWeights = "lookout/weights";
std::optional<LastWeights> last_weights(std::string_view base, const char* scores);

}  // namespace lookout
