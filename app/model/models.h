// The models and labels that options name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/options/options.h"
#include "pipeline/run/open_model.h"
#include "pipeline/training/head_classifier.h"

namespace lookout {

// The file that `option` names. When it is empty: the model chosen when the program was built, else
// the self-test model, for the first engine that is installed. They lie in
// ../share/lookout, relative to the program.
std::filesystem::path model_path(const std::string& option);

// The labels in the file that `option` names; nothing when it is empty. Throws Error(kNoInput),
// Error(kPermission) or Error(kBadData).
std::optional<std::vector<std::string>> read_labels(const std::string& option);

// What the options say about the model. Throws Error(kUsage) when it contradicts itself.
StatedModel stated_model(const ModelOptions& options);

// A model that options name: an archive, or a head with the archive of its base.
struct NamedModel {
  std::filesystem::path path;            // of the archive or the head
  std::shared_ptr<const HeadFile> head;  // null: it is an archive
  std::uint64_t bytes = 0;               // of the archive or the head
  ModelArchive archive;                  // which is run
  std::string head_sha256;               // of a head

  // Of the file `path`. As ModelArchive::sha256().
  const std::string& sha256() const { return head ? head_sha256 : archive.sha256(); }
};

// Reads the archive that `options` name, or the head and the archive of its base, which is found by
// its SHA-256 among the installed models unless `options` name it. Nothing of it is run. Throws
// Error(kNoInput), Error(kPermission), Error(kBadData) for a head that is no good or has another
// base, and when neither the file's SHA-256 nor that of the base is one of `options.sha256`.
NamedModel read_archive(const ModelOptions& options);

// The description of a model that is not run. Empty `labels` need not be there. Throws
// Error(kBadData).
ModelSpec read_spec(const NamedModel& model, const std::optional<std::vector<std::string>>& labels,
                    const StatedModel& stated);

// The name of the self-test model, and of its files but for their suffixes.
inline constexpr const char* kSelftestModel = "selftest";

// Whether no model was chosen, and `archive` is the self-test model.
bool is_selftest(const ModelOptions& options, const ModelArchive& archive);

// The absolute paths of the libraries of operators that `options` name, whose links are followed.
// Throws Error(kPermission) for one that a service does not load.
std::vector<std::string> operator_libraries(const ModelOptions& options);

// The files that a model is loaded from, whether they are there or not: its own, its labels, its
// base and those beside it that may describe it. An empty path: it has none such.
std::vector<std::filesystem::path> files_of_model(const ModelOptions& options);

// The device that `options` name, and its plug-in's absolute path, whose links are followed. Throws
// Error(kUsage) when there is more about a device than there is a device, Error(kPermission) for a
// plug-in that a service does not load.
DeviceOptions checked_device(DeviceOptions device);

struct LoadOptions {
  // Compute with as many threads as ModelOptions says, whatever else the machine does.
  bool keep_threads = false;
  OperatorProfile* operators = nullptr;  // samples operators, and outlives the model; null: no
  bool trace = false;                    // some frames are traced
  bool hash = false;                     // for LoadedModel; takes a while for a large model
};

struct LoadedModel {
  std::filesystem::path path;
  std::string sha256;  // of the file, hexadecimal; empty when it was not asked for
  std::vector<std::unique_ptr<Classifier>> classifiers;  // a copy for each worker
  // The SHA-256 of the model that the options name, which ended the program; empty: it is this one.
  std::string instead_of = {};
  std::string failed = {};                // as ModelInfo
  std::shared_ptr<const void> base = {};  // of a head: what its first classifier computes with
};

// Loads a copy of the model for each worker, and logs what it is. The archive's memory is given
// back. Throws Error, and that of kUnsupported for a head on a custom device.
LoadedModel load_models(NamedModel model, const ModelOptions& options, const LoadOptions& load);

// Loads the models of a run one after the other. Heads of one base share it, its memory and its
// threads, while any of them is there: those of several watches, and those that come later.
//
// Used by one thread at a time, which need not be the one that classifies with what was loaded
// before. Classifiers of heads may be used by one thread at a time together, with several workers
// those of each worker.
class ModelLoader {
 public:
  // As load_models() of what `options` name.
  LoadedModel load(const ModelOptions& options, const LoadOptions& load);

 private:
  std::vector<std::shared_ptr<Backbone>> shared_backbones(const ModelArchive& base,
                                                          const ClassifierOptions& options,
                                                          int count);

  std::map<std::string, std::vector<std::weak_ptr<Backbone>>> backbones_;  // one for each worker
};

// Opens the model that `options` name to describe it: it computes with one thread, and nothing is
// logged. `count_parameters`: ModelFacts::parameters is needed, too. Throws Error.
std::unique_ptr<Classifier> open_to_describe(const NamedModel& model, const ModelOptions& options,
                                             bool count_parameters = false);

// What a model is, as a process of its own found out.
struct DescribedModel {
  std::string text;
  InputSpec input;          // its size and how pictures are brought to it
  std::string advice = {};  // as ModelFacts
  Engine engine{};          // that runs it
};

// Loads the model that `options` name in a process of its own, so that this one has no engine yet
// and outlives a crash. Throws Error.
DescribedModel describe_model(const ModelOptions& options);

}  // namespace lookout
