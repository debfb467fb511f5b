// The models and labels that options name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "pipeline/run/open_model.h"

namespace lookout {

// The file that `option` names. When it is empty: the model chosen when the program was built, else
// the self-test model, for the first engine that is installed. They lie in
// ../share/lookout, relative to the program.
std::filesystem::path model_path(const std::string& option);

// Whether no model is chosen, and the self-test model runs.
bool is_selftest(const std::string& option);

// The labels in the file that `option` names; nothing when it is empty. Throws Error(kNoInput),
// Error(kPermission) or Error(kBadData).
std::optional<std::vector<std::string>> read_labels(const std::string& option);

// What the options say about the model. Throws Error(kUsage) when it contradicts itself.
StatedModel stated_model(const ModelOptions& options);

// Reads the archive that `options` name, and runs nothing of it. Throws Error(kNoInput),
// Error(kPermission), or Error(kBadData) when its SHA-256 is none of `options.sha256`.
ModelArchive read_archive(const ModelOptions& options);

// The absolute paths of the libraries of operators that `options` name, whose links are followed.
// Throws Error(kPermission) for one that a service does not load.
std::vector<std::string> operator_libraries(const ModelOptions& options);

// The device that `options` name, and its plug-in's absolute path, whose links are followed. Throws
// Error(kUsage) when there is more about a device than there is a device, Error(kPermission) for a
// plug-in that a service does not load.
DeviceOptions checked_device(DeviceOptions device);

// What is observed of models, besides their results.
struct Observation {
  OperatorProfile* operators =
      nullptr;                    // samples them, and outlives the models; null: nothing does
  bool trace = false;             // some frames are traced
  std::string* sha256 = nullptr;  // becomes that of the file, hexadecimal; null: not computed
};

// Loads a copy of the model for each worker, and logs what it is. `keep_threads`: compute with as
// many threads as the options say, whatever else the machine does. Throws Error.
std::vector<std::unique_ptr<Classifier>> load_models(const ModelOptions& options, bool keep_threads,
                                                     const Observation& observation = {});

// The same of an archive that was read already.
std::vector<std::unique_ptr<Classifier>> load_models(const ModelArchive& archive,
                                                     const ModelOptions& options, bool keep_threads,
                                                     const Observation& observation = {});

// Opens the archive that `options` name to describe it: it computes with one thread, and nothing is
// logged. `count_parameters`: ModelFacts::parameters is needed, too. Throws Error.
std::unique_ptr<Classifier> open_to_describe(const ModelArchive& archive,
                                             const ModelOptions& options,
                                             bool count_parameters = false);

}  // namespace lookout
