// Between lookout and the modules that run models: liblookout-torch.so and
// liblookout-onnxruntime.so. A process loads one of them at most: two engines' libraries may hold
// other versions of a third.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/module.h"
#include "pipeline/training/backbone.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// Changes with every change of this file, of Classifier, Backbone, Trainer, ModelArchive, or of
// OperatorProfile and Trace, which both sides use.
inline constexpr int kEngineInterface = 8;

// Returned by a module's entry, `extern "C" const EngineModule* lookout_engine()`.
inline constexpr const char* kEngineEntry = "lookout_engine";

struct EngineModule {
  ModuleVersion version;  // kEngineInterface
  // See open_models().
  std::vector<std::unique_ptr<Classifier>> (*open)(const ModelArchive& archive,
                                                   const ClassifierOptions& options, int count);
  // See open_backbones().
  std::vector<std::shared_ptr<Backbone>> (*open_backbones)(const ModelArchive& base,
                                                           const ClassifierOptions& options,
                                                           int count);
  // See open_trainer().
  std::unique_ptr<Trainer> (*open_trainer)(const ModelArchive& archive,
                                           const TrainerOptions& options);
  EngineFacts (*facts)();
  // From now on the debug log names each feature that the engine's library reports as used, once,
  // and api_usage() has the number of reports of each since then. May be called by any thread.
  // Null: the library reports none.
  void (*log_api_usage)();
  std::map<std::string, std::uint64_t> (*api_usage)();
};

}  // namespace lookout
