// Gives an ONNX model another end.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "pipeline/training/trainer.h"

namespace lookout {

// The output, and the name of the value, from which the last layer makes its scores: [1, width].
inline constexpr const char* kFeatures = "features";
inline constexpr const char* kLogits = "logits";

// The ONNX file `base` with a head behind kFeatures that gives, as kLogits, the probabilities of
// the classes and of "unknown". What led to other outputs is left out; kFeatures stays an output.
// `texts` become its metadata_props, in place of the base's. The operators are those of opset 11
// and later. Throws std::runtime_error when `base` is no ONNX file.
std::string with_head(std::string_view base, const TrainedModel& model,
                      const std::map<std::string, std::string>& texts);

}  // namespace lookout
