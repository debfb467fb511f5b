// The description of an ONNX model by its graph, and by the words of Ultralytics' exporter.
#pragma once

#include <map>
#include <string>

#include "pipeline/model/model_spec.h"
#include "pipeline/model/onnx_contents.h"

namespace lookout {

// Takes the input's layout from the graph, and its size where the graph has a fixed one. A graph
// that takes bytes gets those of the picture, whatever mean and deviation are stated; signed ones
// are 128 less. `described`: a size in `input` is stated, not assumed. Throws std::runtime_error,
// whose sentence tells why, when the model takes something else than one picture of three channels
// in floats or bytes, or the sizes differ.
void take_input(const OnnxContents& contents, bool described, InputSpec& input);

// Whether these metadata_props describe a classifier as Ultralytics' exporter does:
// https://docs.ultralytics.com/integrations/onnx/
bool is_ultralytics(const std::map<std::string, std::string>& texts);

// Takes over the labels, the size, and the values that such a classifier is trained with: pixels in
// 0..1 without normalisation, cut to a square; its outputs are probabilities. Throws
// std::runtime_error, whose sentence tells why, for names or sizes that cannot be read.
void describe_ultralytics(const std::map<std::string, std::string>& texts, ModelSpec& spec);

}  // namespace lookout
