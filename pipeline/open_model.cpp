#include "pipeline/open_model.h"

#include <fmt/format.h>

#include "pipeline/error.h"
#include "pipeline/torch/torch_module.h"

namespace lookout {
namespace {

// TorchScript is the only format so far: LibTorch refuses every other file.
const TorchModule& engine() {
  try {
    return load_module<TorchModule>(kTorchModule, kTorchEntry, kTorchInterface);
  } catch (const Error& error) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("models cannot be run: {}; install the package lookout again", error.what()));
  }
}

}  // namespace

std::unique_ptr<Classifier> open_model(const ModelArchive& archive,
                                       const ClassifierOptions& options) {
  return engine().open(archive, options);
}

std::unique_ptr<Trainer> open_trainer(const ModelArchive& archive, int threads) {
  return engine().open_trainer(archive, threads);
}

EngineFacts engine_facts() { return engine().facts(); }

void log_engine_features() { engine().log_features(); }

}  // namespace lookout
