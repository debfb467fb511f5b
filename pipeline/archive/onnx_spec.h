// The description of an ONNX model by its graph.
#pragma once

#include "pipeline/archive/onnx_contents.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

// Takes the input's layout from the graph, and its size where the graph has a fixed one. A graph
// that takes bytes gets those of the picture, whatever mean and deviation are stated; signed ones
// are 128 less. `described`: the size in `spec` is that of metadata, which must be the graph's.
// Throws std::runtime_error, whose sentence tells why, when the model takes something else than one
// picture of three channels in floats or bytes, or the sizes differ.
void take_input(const OnnxContents& contents, bool described, ModelSpec& spec);

}  // namespace lookout
