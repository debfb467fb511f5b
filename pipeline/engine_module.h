// Between lookout and liblookout-torch.so, the module that runs TorchScript archives with LibTorch.
#pragma once

#include <memory>

#include "pipeline/classifier.h"
#include "pipeline/model/archive.h"
#include "pipeline/model/engine_facts.h"
#include "pipeline/module.h"
#include "pipeline/training/trainer.h"

namespace lookout {

inline const char* const kTorchModule = "liblookout-torch.so";
inline const char* const kTorchEntry = "lookout_torch";

// Changes with every change of this file, of Classifier, Trainer, ModelArchive, or of
// OperatorProfile and Trace, which both sides use.
inline constexpr int kTorchInterface = 2;

// Returned by the module's entry, `extern "C" const TorchModule* lookout_torch()`.
struct TorchModule {
  ModuleVersion version;  // kTorchInterface
  // See torch_classifier.h.
  std::unique_ptr<Classifier> (*open)(const ModelArchive& archive,
                                      const ClassifierOptions& options);
  // See torch_trainer.h.
  std::unique_ptr<Trainer> (*open_trainer)(const ModelArchive& archive, int threads);
  EngineFacts (*facts)();
  void (*log_features)();
};

}  // namespace lookout
