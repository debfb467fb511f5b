// lookout inspect --code and --graph: what a model computes, as text. Nothing of it runs.
#pragma once

#include <vector>

#include "app/report/report.h"
#include "pipeline/archive/archive.h"
#include "pipeline/archive/onnx_contents.h"
#include "pipeline/core/json_text.h"

namespace lookout {

// The name, type and shape of each; -1: any size.
nlohmann::ordered_json values_json(const std::vector<OnnxValue>& values);

// The code of a TorchScript archive. Throws Error(kBadData), also for the other format.
Report code_report(const ModelArchive& archive);

// The nodes, inputs, outputs and constants of an ONNX model. As code_report().
Report graph_report(const ModelArchive& archive);

}  // namespace lookout
