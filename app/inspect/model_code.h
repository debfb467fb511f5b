// lookout inspect --code and --graph: what a model computes, as text. Nothing of it runs.
#pragma once

#include <string>
#include <vector>

#include "app/options/options.h"
#include "pipeline/archive/archive.h"
#include "pipeline/archive/onnx_contents.h"
#include "pipeline/core/json_text.h"

namespace lookout {

// The name, type and shape of each; -1: any size.
nlohmann::ordered_json values_json(const std::vector<OnnxValue>& values);

// The code of a TorchScript archive. With a newline at its end. Throws Error(kBadData), also for
// the other format.
std::string model_code(const ModelArchive& archive, Format format);

// The nodes, inputs, outputs and constants of an ONNX model. As model_code().
std::string model_graph(const ModelArchive& archive, Format format);

}  // namespace lookout
