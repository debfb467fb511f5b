#include "app/model/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <opencv2/core/utility.hpp>
#include <system_error>

#include "app/model/base.h"
#include "app/model/label_file.h"
#include "app/model/model_facts.h"
#include "app/model/model_store.h"
#include "app/report/json.h"
#include "pipeline/archive/foreign_spec.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/training/shared_backbone.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"
#include "platform/system/process.h"
#include "platform/system/process_usage.h"
#include "platform/system/service.h"
#include "platform/system/state_folder.h"
#include "platform/system/system_info.h"

namespace lookout {
namespace {

std::string compute_text(const ModelOptions& options, int threads) {
  if (options.workers > 1) return fmt::format("{} workers", options.workers);
  return fmt::format("{} thread{}{}", threads, threads == 1 ? "" : "s",
                     options.threads == ClassifierOptions::kAutoThreads ? " (auto)" : "");
}

bool is_in_home(const std::string& file) {
  return file.rfind("/home/", 0) == 0 || file.rfind("/root/", 0) == 0;
}

// Returns read(), which reads `file`. ProtectHome= hides home folders from a service. The error
// then says so, and a refused permission counts as an absent file: for that systemd does not
// restart the service again and again.
template <typename Read>
auto read_as_service(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    const bool unseen =
        error.kind() == ErrorKind::kNoInput || error.kind() == ErrorKind::kPermission;
    if (!unseen || !is_service() || !is_in_home(file)) throw;
    throw Error(ErrorKind::kNoInput, std::string(error.what()) +
                                         "; a service does not see home folders: put it into "
                                         "/usr/local/share/lookout or /etc/lookout");
  }
}

void log_model(const ModelOptions& options, const NamedModel& model, const Classifier& classifier) {
  const ModelArchive& archive = model.archive;
  const ModelSpec& spec = classifier.spec();
  const ModelFacts& facts = classifier.facts();
  log_info("model: {}, {}x{} {}, {} labels, {} activations on {} kernels, {}", spec.name,
           spec.input.width, spec.input.height, to_text(spec.input.resize), spec.labels.size(),
           facts.activations, facts.kernels, compute_text(options, classifier.threads()));
  log_debug("archive: {}", to_text(archive_facts(spec, facts)));
  if (is_selftest(options, archive)) {
    const auto base = installed_base();
    log_warn(
        "no --model given: the built-in self-test model knows only the patterns of test://all; {}",
        base ? fmt::format("--model {} knows 1000 kinds of things", base->string())
             : "models/export.py makes one that knows ImageNet's classes");
  }
  const std::string assumed = assumption_text(spec);
  if (!assumed.empty()) {
    log_warn("{} has no {}: {}", archive.path().string(), row_of(archive.engine()).metadata,
             assumed);
  }
  const auto& size = options.stated.size;
  if (size && (size->width != spec.input.width || size->height != spec.input.height)) {
    log_warn("the graph of {} has the fixed size {}x{}, which holds instead of {}x{}", spec.name,
             spec.input.width, spec.input.height, size->width, size->height);
  }
  if (facts.recognised_output && spec.output == ModelOutput::kProbabilities) {
    log_info(
        "model {}: its outputs are probabilities and are taken as scores, as --output "
        "probabilities "
        "says",
        spec.name);
  }
  if (spec.output == ModelOutput::kSigmoid) {
    log_info(
        "model {}: its outputs are probabilities that do not add up to 1, and are taken as scores, "
        "of which several may be high; state.enter-threshold=0.5 makes the state unknown while "
        "none is",
        spec.name);
  }
  if (!facts.advice.empty()) log_warn("model {}: {}", spec.name, facts.advice);
  if (!spec.trained) log_warn("{} was not trained: its predictions mean nothing", spec.name);
}

// Links are followed. What is not there is refused where it is loaded. Throws Error(kPermission)
// for a library that a service does not load; `what` begins its sentence.
std::string absolute_library(const std::string& what, const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(file, error);
  if (error) return std::filesystem::absolute(file).string();
  if (is_service()) check_library_of_service(what, path);
  return path.string();
}

void log_device(const DeviceUse& use) {
  if (use.device.empty()) return;
  const DeviceCalls total = total_of(use);
  log_info("device {}: {} calls of operators a frame", use.device, total.on_device);
  if (total.fallen_back == 0) return;
  log_warn(
      "{} calls of operators a frame fall back from the device {} to the CPU, which moves {} "
      "bytes; lookout inspect --device {} lists them",
      total.fallen_back, use.device, total.bytes_moved, use.device);
}

// ---- Heads

constexpr std::array kModelFolders{"/usr/share/lookout", "/usr/local/share/lookout",
                                   "/var/lib/lookout/models"};

// A file that cannot be read is not the base.
std::optional<ModelArchive> try_base(const std::filesystem::directory_entry& file,
                                     const HeadBase& base) {
  std::error_code unseen;
  if (!file.is_regular_file(unseen) || file.file_size(unseen) != base.bytes) return std::nullopt;
  try {
    ModelArchive archive(file.path());
    if (archive.sha256() == base.sha256) return archive;
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::optional<ModelArchive> find_base(const std::filesystem::path& folder, const HeadBase& base) {
  std::error_code unseen;
  for (std::filesystem::directory_iterator file(folder, unseen), end; !unseen && file != end;
       file.increment(unseen)) {
    if (auto archive = try_base(*file, base)) return archive;
  }
  return std::nullopt;
}

// Where a service keeps the bases of its heads; empty: it has no state folder.
std::filesystem::path folder_of_kept_bases() {
  const std::filesystem::path state = state_folder();
  return state.empty() ? state : state / "models";
}

// The package's next version may bring another base, and without its own a head does not run.
void keep_base(const ModelArchive& archive, const HeadBase& base) {
  const std::filesystem::path folder = folder_of_kept_bases();
  if (folder.empty() || archive.path().parent_path() == folder) return;
  const auto kept = folder / (base.sha256 + archive.path().extension().string());
  std::error_code absent;
  if (std::filesystem::file_size(kept, absent) == base.bytes) return;
  try {
    make_readable_folder(folder);
    TempFile file(kept);
    file.write(archive.bytes());
    file.let_group_read();
    file.keep();
  } catch (const std::system_error& error) {
    log_warn("base {} is not kept in {}: {}; an upgrade of lookout-base may replace it",
             archive.path().string(), folder.string(), error.code().message());
  }
}

// A base runs, and a head may be from anywhere: a base beside it would be, too.
Error no_base(const std::filesystem::path& head, const HeadBase& base) {
  constexpr const char* kNameIt =
      "name it with model.base (--base FILE of bench, eval and inspect, --model FILE of train)";
  const std::filesystem::path folder = folder_of_model(head);
  const auto beside = find_base(folder.empty() ? std::filesystem::path(".") : folder, base);
  if (beside) {
    return {ErrorKind::kNoInput,
            fmt::format("model {}: its base {} is {}, which is not taken by itself, since a base "
                        "runs: if you trust it, {}",
                        head.string(), base.name, beside->path().string(), kNameIt)};
  }
  return {ErrorKind::kNoInput,
          fmt::format("model {}: its base {}, the file with the SHA-256 {}, is not in {}: put it "
                      "there, or {}; that of the package lookout-base comes with it",
                      head.string(), base.name, base.sha256, joined(kModelFolders, ", "), kNameIt)};
}

// The archive `named`; when that is empty, the file with the size and the SHA-256 of `base` in the
// folders for models, which a service keeps. Throws as ModelArchive for a file that is named,
// Error(kBadData) when it is another base, Error(kNoInput) when none is found.
ModelArchive read_base(const std::filesystem::path& head, const HeadBase& base,
                       const std::string& named) {
  if (!named.empty()) {
    ModelArchive archive(named);
    if (archive.sha256() == base.sha256) return archive;
    refuse_model(head,
                 fmt::format("{} is not its base {}, whose SHA-256 is {}: give that, or train "
                             "the head again",
                             named, base.name, base.sha256));
  }
  std::vector<std::filesystem::path> folders{models_folder()};
  folders.insert(folders.end(), kModelFolders.begin(), kModelFolders.end());
  folders.push_back(folder_of_kept_bases());
  for (const std::filesystem::path& folder : folders) {
    auto archive = find_base(folder, base);
    if (!archive) continue;
    keep_base(*archive, base);
    return std::move(*archive);
  }
  throw no_base(head, base);
}

HeadFile checked_head(const ModelArchive& file) {
  try {
    return read_head(file.bytes());
  } catch (const Error& error) {
    refuse_model(file.path(), error.what());
  }
}

bool is_one_of(const std::vector<std::string>& hashes, const std::string& sha256) {
  return std::any_of(hashes.begin(), hashes.end(),
                     [&sha256](const std::string& one) { return lower_case(one) == sha256; });
}

using Backbones = std::vector<std::shared_ptr<Backbone>>;
// As open_backbones().
using OpenBackbones =
    std::function<Backbones(const ModelArchive& base, const ClassifierOptions& options, int count)>;

// One for each of `count` workers.
std::vector<std::unique_ptr<Classifier>> open_classifiers(
    const NamedModel& model, const ClassifierOptions& options, int count,
    const OpenBackbones& open = open_backbones) {
  if (!model.head) return open_models(model.archive, options, count);
  std::vector<std::unique_ptr<Classifier>> classifiers;
  for (auto& backbone : open(model.archive, base_options(*model.head, options), count)) {
    classifiers.push_back(
        std::make_unique<HeadClassifier>(model.path, model.head, std::move(backbone), options));
  }
  return classifiers;
}

Backbones open_and_log(const ModelArchive& base, const ClassifierOptions& options, int count) {
  Backbones backbones = open_backbones(base, options, count);
  log_info("base: {} in {}", backbones.front()->spec().name, base.path().string());
  return backbones;
}

// What backbones have to have in common to be the same ones, as a text. All of a run compute with
// the same number of threads, also when some were told it and others measured it.
std::string sharing_key(const ModelArchive& base, const ClassifierOptions& options, int count) {
  const StatedModel& stated = options.stated;
  return to_text(Json{base.sha256(), count, options.trace,
                      reinterpret_cast<std::uintptr_t>(options.operators),
                      options.operator_libraries, stated.size->width, stated.size->height,
                      stated.normalisation.mean.value(), stated.normalisation.std.value(),
                      to_text(stated.channels.value())});
}

// What the options say of a model, whatever it is loaded for.
ClassifierOptions stated_options(const ModelOptions& options) {
  ClassifierOptions stated;
  stated.device = checked_device(options.device);
  stated.stated = stated_model(options);
  stated.operator_libraries = operator_libraries(options);
  stated.labels =
      read_as_service(options.labels, [&options] { return read_labels(options.labels); });
  return stated;
}

}  // namespace

std::filesystem::path model_path(const std::string& option) {
  if (!option.empty()) return option;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "share/lookout";
  const std::filesystem::path chosen_at_build = folder / "default.pt";
  if (std::filesystem::exists(chosen_at_build)) return chosen_at_build;
  const auto* row = std::find_if(kEngines.begin(), kEngines.end(), [](const EngineRow& engine) {
    return is_installed(engine.engine);
  });
  if (row == kEngines.end()) row = kEngines.begin();
  return folder / (std::string(kSelftestModel) + row->suffix);
}

std::optional<std::vector<std::string>> read_labels(const std::string& option) {
  if (option.empty()) return std::nullopt;
  const std::string text = read_input("labels", option);
  try {
    return parse_label_file(text, lower_case_extension(option));
  } catch (const Error& error) {
    throw Error(error.kind(), option + ": " + error.what());
  }
}

StatedModel stated_model(const ModelOptions& options) {
  const std::string problem = problem_of(options.stated.normalisation);
  if (problem.empty()) return options.stated;
  throw Error(ErrorKind::kUsage, fmt::format("--mean or --std: {}", problem));
}

NamedModel read_archive(const ModelOptions& options) {
  const std::filesystem::path path = model_path(options.file);
  ModelArchive archive = read_as_service(path.string(), [&path] { return ModelArchive(path); });
  const std::size_t bytes = archive.bytes().size();
  if (!is_head(archive.bytes())) {
    archive.require_sha256(options.sha256);
    return {path, nullptr, bytes, std::move(archive), {}};
  }
  const auto head = std::make_shared<const HeadFile>(checked_head(archive));
  ModelArchive base =
      read_as_service(options.base, [&] { return read_base(path, head->base, options.base); });
  if (!is_one_of(options.sha256, archive.sha256())) base.require_sha256(options.sha256);
  return {path, head, bytes, std::move(base), archive.sha256()};
}

ModelSpec read_spec(const NamedModel& model, const std::optional<std::vector<std::string>>& labels,
                    const StatedModel& stated) {
  if (model.head) return read_spec(model.path, *model.head, labels, stated);
  return read_spec(model.archive, read_contents(model.archive), labels, stated);
}

bool is_selftest(const ModelOptions& options, const ModelArchive& archive) {
  return options.file.empty() && archive.path().stem() == kSelftestModel;
}

std::vector<std::string> operator_libraries(const ModelOptions& options) {
  std::vector<std::string> libraries;
  for (const std::string& file : options.operators) {
    const std::string name = absolute_library("operator library", file);
    if (std::find(libraries.begin(), libraries.end(), name) == libraries.end()) {
      libraries.push_back(name);
    }
  }
  return libraries;
}

std::vector<std::filesystem::path> files_of_model(const ModelOptions& options) {
  const std::filesystem::path file = model_path(options.file);
  std::vector<std::filesystem::path> files{file, options.labels, options.base};
  for (const std::filesystem::path& beside : places_beside(file)) files.push_back(beside);
  return files;
}

DeviceOptions checked_device(DeviceOptions device) {
  if (device.name.empty() && (!device.plugin.empty() || device.forbid_fallback)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--device-{} is for a custom device: --device NAME is needed",
                            device.plugin.empty() ? "fallback" : "plugin"));
  }
  if (!device.plugin.empty()) device.plugin = absolute_library("device plug-in", device.plugin);
  return device;
}

namespace {

LoadedModel load_with(const OpenBackbones& open, const NamedModel& model,
                      const ModelOptions& options, const LoadOptions& load) {
  cv::setNumThreads(1);  // OpenCV's own threads would compete with those that classify
  ClassifierOptions classifier_options = stated_options(options);
  classifier_options.operators = load.operators;
  classifier_options.trace = load.trace;
  classifier_options.threads = options.workers > 1 ? 1 : options.threads;
  classifier_options.keep_threads = load.keep_threads;
  classifier_options.processors = processors();
  classifier_options.free_processors = FreeProcessors();
  LoadedModel loaded{model.path, load.hash ? model.sha256() : "", {}};
  const auto open_base = [&](const ModelArchive& base, const ClassifierOptions& of_base,
                             int count) {
    Backbones backbones = open(base, of_base, count);
    loaded.base = backbones.front();
    return backbones;
  };
  loaded.classifiers = open_classifiers(model, classifier_options, options.workers, open_base);
  const Classifier& classifier = *loaded.classifiers.front();
  log_model(options, model, classifier);
  log_device(classifier.device_use());
  if (load.operators != nullptr && !classifier.facts().samples_operators) {
    log_warn(
        "profile.op-sampling: {} has no sampling of operators; a --trace has the times of its "
        "operators",
        classifier.facts().library);
  }
  return loaded;
}

}  // namespace

LoadedModel load_models(NamedModel model, const ModelOptions& options, const LoadOptions& load) {
  return load_with(open_and_log, model, options, load);
}

LoadedModel ModelLoader::load(const ModelOptions& options, const LoadOptions& load) {
  const auto open = [this](const ModelArchive& base, const ClassifierOptions& of_base, int count) {
    return shared_backbones(base, of_base, count);
  };
  return load_with(open, read_archive(options), options, load);
}

Backbones ModelLoader::shared_backbones(const ModelArchive& base, const ClassifierOptions& options,
                                        int count) {
  std::vector<std::weak_ptr<Backbone>>& known = backbones_[sharing_key(base, options, count)];
  Backbones backbones;
  for (const std::weak_ptr<Backbone>& one : known) {
    if (auto backbone = one.lock()) backbones.push_back(std::move(backbone));
  }
  if (!backbones.empty() && backbones.size() == known.size()) return backbones;
  backbones = open_and_log(base, options, count);
  for (auto& backbone : backbones) {
    backbone = std::make_shared<SharedBackbone>(std::move(backbone));
  }
  known.assign(backbones.begin(), backbones.end());
  return backbones;
}

std::unique_ptr<Classifier> open_to_describe(const NamedModel& model, const ModelOptions& options,
                                             bool count_parameters) {
  ClassifierOptions classifier_options = stated_options(options);
  classifier_options.count_parameters = count_parameters;
  return std::move(open_classifiers(model, classifier_options, 1).front());
}

DescribedModel describe_model(const ModelOptions& options) {
  const NamedModel model = read_archive(options);
  const auto describe = [&] {
    const auto classifier = open_to_describe(model, options);
    const ModelFacts& facts = classifier->facts();
    const InputSpec& input = classifier->spec().input;
    const std::string text =
        fmt::format("{} in {}, sha256 {}{}, {} activations on {} kernels", classifier->spec().name,
                    model.path.string(), model.sha256(),
                    model.head ? ", behind its base " + model.archive.path().string() : "",
                    facts.activations, facts.kernels);
    return to_text(Json{text, input.width, input.height, input.resize, facts.advice,
                        static_cast<int>(model.archive.engine())});
  };
  const auto found = parse_json(run_in_child("model " + model.path.string(), describe));
  DescribedModel described{found[0], {}};
  described.input.width = found[1];
  described.input.height = found[2];
  described.input.resize = found[3];
  described.advice = found[4];
  described.engine = static_cast<Engine>(found[5].get<int>());
  return described;
}

}  // namespace lookout
