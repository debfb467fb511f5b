// ONNX models on ONNX Runtime's processor kernels.
#pragma once

#include <memory>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/classifier.h"
#include "pipeline/training/backbone.h"

namespace lookout {

EngineFacts onnxruntime_facts();

// See open_models(). The classifiers share the weights, and may work at the same time. They take
// floats in the layout of the model. The number of threads is chosen when the model is loaded, and
// stays: ONNX Runtime makes its threads then. They sleep when there is nothing to compute.
// Operators are not sampled. With ClassifierOptions::trace, they outlive the trace.
std::vector<std::unique_ptr<Classifier>> open_onnx_models(const ModelArchive& archive,
                                                          const ClassifierOptions& options,
                                                          int count);

// See open_backbones(). The base needs an output "features". One for each worker; all are the same.
std::vector<std::shared_ptr<Backbone>> open_onnx_backbones(const ModelArchive& base,
                                                           const ClassifierOptions& options,
                                                           int count);

}  // namespace lookout
