// A TorchScript archive on LibTorch's QNNPACK engine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/classifier.h"

namespace lookout {

EngineFacts libtorch_facts();

// Logs each feature that LibTorch reports as used ("API usage events") once, at level debug. Call
// it before the first classifier is constructed.
void log_libtorch_api_usage();

// How often each feature was reported since then. May be called by any thread.
std::map<std::string, std::uint64_t> libtorch_api_usage();

// The engine and the thread counts belong to the process: classifiers of one process share them,
// and the last one constructed decides. Several classifiers may work at the same time if each was
// constructed with one thread. All that have ClassifierOptions::operators must share one object.
class TorchClassifier : public Classifier {
 public:
  // Loads, freezes and runs the model until it is warm. Throws what open_model() throws;
  // Error(kInternal) when this LibTorch was built without QNNPACK.
  TorchClassifier(const ModelArchive& archive, const ClassifierOptions& options);
  ~TorchClassifier() override;

  const ModelSpec& spec() const override;
  const ModelFacts& facts() const override;
  const DeviceUse& device_use() const override;
  int threads() const override;
  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lookout
