// A TorchScript archive on LibTorch's QNNPACK engine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "pipeline/archive/archive.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/classifier.h"
#include "pipeline/training/backbone.h"

namespace lookout {

EngineFacts libtorch_facts();

// Logs each feature that LibTorch reports as used ("API usage events") once, at level debug. Call
// it before the first model is opened.
void log_libtorch_api_usage();

// How often each feature was reported since then. May be called by any thread.
std::map<std::string, std::uint64_t> libtorch_api_usage();

// Loads, freezes and runs the model until it is warm. The engine and the thread counts belong to
// the process: classifiers of one process share them, and the last one opened decides. Several
// classifiers may work at the same time if each was opened with one thread. All that have
// ClassifierOptions::operators must share one object. Throws what open_model() throws;
// Error(kInternal) when this LibTorch was built without QNNPACK.
std::unique_ptr<Classifier> open_torch_model(const ModelArchive& archive,
                                             const ClassifierOptions& options);

// The same for a base, which is cut before its last layer.
std::shared_ptr<Backbone> open_torch_backbone(const ModelArchive& base,
                                              const ClassifierOptions& options);

}  // namespace lookout
