#include "pipeline/run/open_model.h"

#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <system_error>

#include "pipeline/core/error.h"
#include "pipeline/core/module.h"
#include "pipeline/run/engine_module.h"

namespace lookout {
namespace {

Error cannot_run(ErrorKind kind, Engine engine, const std::string& why) {
  return {kind, fmt::format("{} models cannot be run: {}", row_of(engine).models, why)};
}

constexpr int kNone = -1;

// The only engine of the process: two would bring other versions of the same libraries.
std::atomic<int> claimed{kNone};

void claim(Engine engine) {
  int before = kNone;
  const int wanted = static_cast<int>(engine);
  if (claimed.compare_exchange_strong(before, wanted) || before == wanted) return;
  throw OtherEngine(engine, static_cast<Engine>(before));
}

const EngineModule& load(Engine engine) {
  const EngineRow& row = row_of(engine);
  if (!is_installed(engine)) {
    throw cannot_run(ErrorKind::kNoInput, engine,
                     fmt::format("there is no {}; install the package {}, a file beside that of "
                                 "lookout (sudo apt install ./{}_*.deb), or, where lookout was "
                                 "built, run deploy/install-deps.sh and build again",
                                 module_path(row.module).string(), row.package, row.package));
  }
  claim(engine);
  try {
    return load_module<EngineModule>(row.module, kEngineEntry, kEngineInterface);
  } catch (const Error& error) {
    throw cannot_run(ErrorKind::kUnsupported, engine,
                     fmt::format("{}; install the package {} again", error.what(), row.package));
  }
}

// The engine that runs models; null: none does yet.
std::atomic<const EngineModule*> running{nullptr};

const EngineModule& load_to_run(Engine engine) {
  const EngineModule& module = load(engine);
  if (module.log_api_usage != nullptr) module.log_api_usage();
  running = &module;
  return module;
}

void refuse_device(const ModelArchive& archive, const DeviceOptions& device) {
  if (device.name.empty() || archive.engine() == Engine::kTorch) return;
  throw Error(
      ErrorKind::kUnsupported,
      fmt::format(
          "--device {} is for TorchScript archives, {} is {}: a compiled graph with its own "
          "runtime is an engine, not a device",
          device.name, archive.path().string(), row_of(archive.engine()).model));
}

}  // namespace

OtherEngine::OtherEngine(Engine wanted, Engine used)
    : Error(cannot_run(ErrorKind::kUnsupported, wanted,
                       fmt::format("this process uses {} already, and a process uses one engine",
                                   to_text(used)))) {}

std::vector<std::unique_ptr<Classifier>> open_models(const ModelArchive& archive,
                                                     const ClassifierOptions& options, int count) {
  refuse_device(archive, options.device);
  return load_to_run(archive.engine()).open(archive, options, count);
}

std::unique_ptr<Classifier> open_model(const ModelArchive& archive,
                                       const ClassifierOptions& options) {
  return std::move(open_models(archive, options, 1).front());
}

std::vector<std::shared_ptr<Backbone>> open_backbones(const ModelArchive& base,
                                                      const ClassifierOptions& options, int count) {
  if (!options.device.name.empty()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("--device {} takes no head, whose base computes on the CPU: give the model "
                    "that lookout train writes beside it",
                    options.device.name));
  }
  return load_to_run(base.engine()).open_backbones(base, options, count);
}

std::unique_ptr<Trainer> open_trainer(const ModelArchive& archive, const TrainerOptions& options) {
  return load(archive.engine()).open_trainer(archive, options);
}

std::optional<Engine> engine_in_use() {
  const int engine = claimed;
  return engine == kNone ? std::nullopt : std::optional(static_cast<Engine>(engine));
}

EngineFacts engine_facts(Engine engine) { return load(engine).facts(); }

std::map<std::string, std::uint64_t> api_usage() {
  const EngineModule* engine = running;
  if (engine == nullptr || engine->api_usage == nullptr) return {};
  return engine->api_usage();
}

bool is_installed(Engine engine) {
  std::error_code ignored;
  return std::filesystem::exists(module_path(row_of(engine).module), ignored);
}

}  // namespace lookout
