// Opens a model with the engine that its format is made for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/error.h"
#include "pipeline/training/backbone.h"
#include "pipeline/training/trainer.h"

namespace lookout {

// Error(kUnsupported): the process uses `used`, so that it cannot run models of `wanted`. Another
// process could.
class OtherEngine : public Error {
 public:
  OtherEngine(Engine wanted, Engine used);
};

// Loads the model for `count` workers and runs it until it is warm. TorchScript archives, whose
// code runs then, run on LibTorch, ONNX models on ONNX Runtime. The archive is not needed any more
// afterwards. A process uses one engine: the first call decides.
// Throws Error(kBadData) for anything wrong with the archive, its spec, its labels or a library of
// operators, Error(kNoInput) or Error(kPermission) when such a library cannot be read,
// Error(kInternal) when the engine's library lacks what it needs, Error(kNoInput) when the engine
// is not installed, Error(kUnsupported) when it cannot be loaded, and OtherEngine when the process
// already uses another.
std::vector<std::unique_ptr<Classifier>> open_models(const ModelArchive& archive,
                                                     const ClassifierOptions& options, int count);

// The same for one.
std::unique_ptr<Classifier> open_model(const ModelArchive& archive,
                                       const ClassifierOptions& options);

// Loads a base for heads, cuts it before its last layer and runs it until it is warm: one for each
// of `count` workers, which any number of heads share. `options`: its labels are not used, and its
// `stated` is that of base_options(). Throws as open_models(), Error(kBadData) when the base cannot
// be cut, and Error(kUnsupported) for a custom device.
std::vector<std::shared_ptr<Backbone>> open_backbones(const ModelArchive& base,
                                                      const ClassifierOptions& options, int count);

// Loads a base, of which new models are made, and cuts it before its last layer. Throws as
// open_model(), and Error(kBadData) when the base's last layer is not linear, or cannot be told
// from the rest.
std::unique_ptr<Trainer> open_trainer(const ModelArchive& archive, const TrainerOptions& options);

// The engine of the process; nothing before the first model. May be called by any thread.
std::optional<Engine> engine_in_use();

// Facts about the engine's library, which is loaded. Throws Error(kNoInput) and
// Error(kUnsupported) as open_models().
EngineFacts engine_facts(Engine engine);

// How often the library of the engine that open_models() loaded reported each of its features as
// used; empty: it reports none. May be called by any thread after open_models().
std::map<std::string, std::uint64_t> api_usage();

// Whether the engine's module is there; nothing is loaded.
bool is_installed(Engine engine);

}  // namespace lookout
