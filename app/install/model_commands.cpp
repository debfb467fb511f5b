#include "app/install/model_commands.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "app/install/judge_model.h"
#include "app/install/reload_command.h"
#include "app/model/model_store.h"
#include "app/model/model_trials.h"
#include "app/model/models.h"
#include "app/options/watches.h"
#include "app/report/json.h"
#include "pipeline/archive/archive.h"
#include "pipeline/archive/foreign_spec.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/printable.h"
#include "pipeline/training/head_file.h"
#include "platform/system/atomic_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;
using Models = std::vector<InstalledModel>;

constexpr std::chrono::seconds kAnswerLimit{30};  // besides the wait for its turn
constexpr std::size_t kShownDigits = 12;          // of a SHA-256
constexpr std::size_t kShownLabels = 8;

// ---- Which file

// A model file that the configuration names, and the watches that have it.
struct ModelPlace {
  ModelOptions model;
  std::vector<std::string> watches;  // one without a name is not among them
};

std::vector<ModelPlace> places_of(const RunOptions& options) {
  std::vector<ModelPlace> places;
  for (const Watch& watch : watches_of(options)) {
    const std::string& file = watch.options.model.file;
    auto place = std::find_if(places.begin(), places.end(),
                              [&file](const ModelPlace& each) { return each.model.file == file; });
    if (place == places.end()) {
      place = places.insert(places.end(), {watch.options.model, {}});
    }
    if (!watch.name.empty()) place->watches.push_back(watch.name);
  }
  return places;
}

// How long the new model may take to answer. With a rate its watch may be the last one whose turn
// comes: a run that begins or reloads classifies for each watch once before it takes the first
// again.
Clock::duration answer_limit(const RunOptions& options) {
  const std::optional<double>& rate = options.camera.max_rate;
  if (!rate || options.watches.size() < 2) return kAnswerLimit;
  const std::chrono::duration<double> turns(static_cast<double>(options.watches.size() - 1) /
                                            *rate);
  return kAnswerLimit + std::chrono::ceil<std::chrono::seconds>(turns);
}

std::vector<std::string> watch_names(const RunOptions& options) {
  std::vector<std::string> names;
  for (const WatchOptions& watch : options.watches) names.push_back(watch.name);
  return names;
}

// That of --watch, or the only one.
ModelPlace chosen_place(const RunOptions& options, const ModelCommandOptions& command) {
  const std::vector<ModelPlace> places = places_of(options);
  if (!command.watch) {
    if (places.size() == 1) return places.front();
    throw Error(ErrorKind::kUsage, fmt::format("the watches have several models: say --watch {}",
                                               joined(watch_names(options), "|")));
  }
  for (const ModelPlace& place : places) {
    const auto& names = place.watches;
    if (std::find(names.begin(), names.end(), *command.watch) != names.end()) return place;
  }
  const auto names = watch_names(options);
  throw Error(
      ErrorKind::kUsage,
      names.empty()
          ? fmt::format("there is no watch {}: the configuration has none, so leave "
                        "--watch out",
                        *command.watch)
          : fmt::format("there is no watch {}: there are {}", *command.watch, joined(names, ", ")));
}

// Throws Error unless the file may be replaced and the service sees it.
void check_place(const ModelPlace& place, const ServiceControl& service) {
  const fs::path file = place.model.file;
  if (file.empty()) {
    throw Error(ErrorKind::kConfig,
                "the configuration names no model file whose place another could take: set "
                "[model] file = \"/usr/local/share/lookout/model\"");
  }
  if (fs::absolute(file).lexically_normal().string().rfind("/usr/share/", 0) == 0) {
    throw Error(ErrorKind::kConfig,
                fmt::format("{} is a package's: name a model file in /usr/local/share/lookout",
                            file.string()));
  }
  service.check_reads(file);
  for (const fs::path& name : {file.filename(), file.stem()}) {
    const fs::path beside = file.parent_path() / (name.string() + ".metadata.json");
    std::error_code unseen;
    if (!fs::exists(beside, unseen)) continue;
    throw Error(ErrorKind::kConfig,
                fmt::format("{} describes the model that is in {} now and would be taken for any "
                            "other: give the model another name in the configuration",
                            beside.string(), file.string()));
  }
  std::error_code unseen;
  if (!fs::is_directory(file.has_parent_path() ? file.parent_path() : ".", unseen)) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("the folder of {} is not there; make it first", file.string()));
  }
  if (const std::error_code why = why_not_writable(file.parent_path())) {
    throw Error(ErrorKind::kPermission,
                fmt::format("{} cannot be replaced: {}{}", file.string(), why.message(),
                            ::geteuid() == 0 ? "" : ": run it with sudo"));
  }
}

// One command at a time changes a model file. Released when the descriptor is closed.
class PlaceLock {
 public:
  explicit PlaceLock(const fs::path& file) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
    fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(fd_);
      throw Error(ErrorKind::kOutput, fmt::format("another lookout model is at work in {}: wait "
                                                  "until it has ended",
                                                  folder.string()));
    }
  }
  ~PlaceLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  PlaceLock(const PlaceLock&) = delete;
  PlaceLock& operator=(const PlaceLock&) = delete;

 private:
  int fd_ = -1;
};

// ---- What is there

std::int64_t milliseconds_now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())
      .time_since_epoch()
      .count();
}

// A model that came to its place in another way. Nothing of it is run.
InstalledModel described(const ModelPlace& place, const ModelArchive& file) {
  InstalledModel model;
  model.sha256 = file.sha256();
  model.name = fs::path(place.model.file).filename();
  struct stat status {};
  if (::stat(place.model.file.c_str(), &status) == 0) model.at = status.st_mtime * 1000LL;
  model.is_head = is_head(file.bytes());
  try {
    const ModelSpec spec =
        read_spec(read_archive(place.model), std::vector<std::string>(), place.model.stated);
    model.name = spec.name;
    model.labels = spec.labels;
  } catch (const Error&) {
    // It is kept as it is, whatever it is.
  }
  return model;
}

struct KnownModels {
  Models all;                             // the last that was put in place comes first
  std::optional<InstalledModel> current;  // that the file is
  std::unique_ptr<ModelArchive> bytes;    // of the file; null: there is none
};

KnownModels known_models(const ModelPlace& place) {
  KnownModels known{ModelStore(place.model.file).installed(), {}, {}};
  std::error_code unseen;
  if (!fs::exists(place.model.file, unseen)) return known;
  known.bytes = std::make_unique<ModelArchive>(place.model.file);
  const std::string& hash = known.bytes->sha256();
  const auto found =
      std::find_if(known.all.begin(), known.all.end(),
                   [&hash](const InstalledModel& model) { return model.sha256 == hash; });
  known.current = found == known.all.end() ? described(place, *known.bytes) : *found;
  if (found != known.all.end()) known.all.erase(found);
  known.all.insert(known.all.begin(), *known.current);
  return known;
}

// A model that does not run is not one to go back to.
void forget_failed(const ModelPlace& place, const fs::path& state_folder, KnownModels& known) {
  if (!known.current) return;
  const auto trial = read_trial(state_folder, place.model.file, *known.current);
  if (trial && trial->failed) known.all.erase(known.all.begin());
}

// ---- Texts

std::string shown_hash(const InstalledModel& model) { return model.sha256.substr(0, kShownDigits); }

std::string shown_model(const InstalledModel& model) {
  return fmt::format("{} ({})", printable(model.name), shown_hash(model));
}

std::string shown_labels(const std::vector<std::string>& labels) {
  if (labels.empty()) return "labels are not known";
  if (labels.size() > kShownLabels) return fmt::format("{} labels", labels.size());
  return printable(joined(labels, ", "));
}

std::string time_text(std::int64_t milliseconds) {
  constexpr std::int64_t kThousand = 1000;
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     fmt::localtime(static_cast<std::time_t>(milliseconds / kThousand)));
}

std::string watches_text(const ModelPlace& place) {
  return place.watches.empty() ? "" : joined(place.watches, ", ") + ": ";
}

// ---- Use

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Judges a copy in the store. A sentence about it names `shown`, where the user has it.
JudgedModel judge_kept(const ModelPlace& place, const ModelStore& store, const std::string& hash,
                       const std::string& shown) {
  ModelOptions model = place.model;
  model.file = store.kept(hash).string();
  try {
    return judge_model(model);
  } catch (const Error& error) {
    throw Error(error.kind(), replaced(error.what(), model.file, shown) + "; nothing was changed");
  }
}

// Why the new model does not run in the service; empty: it answers. A service whose process cannot
// take it is restarted. `limit`: of answer_limit().
std::string wait_for_answer(const ModelPlace& place, const InstalledModel& model,
                            Clock::duration limit, const ServiceControl& service,
                            Clock::time_point asked) {
  auto end = asked + limit;
  bool is_restarted = false;
  while (service.now() < end) {
    const auto reload = is_restarted ? std::nullopt : outcome_since(asked, service);
    if (reload && reload->needs_restart) {
      is_restarted = true;
      end = service.now() + limit;
      service.reload(/*restart=*/true);
    } else if (reload && !reload->error.empty()) {
      return reload->error;
    }
    if (const auto trial = read_trial(service.state_folder, place.model.file, model)) {
      if (trial->answered) return {};
      if (!trial->error.empty()) return trial->error;
      if (trial->failed) return "the service ended twice with it";
    }
    service.pause();
  }
  return fmt::format("the service gave no result with it for {} s",
                     std::chrono::ceil<std::chrono::seconds>(limit).count());
}

// Has the service take the model that was put in place; returns what is to be told. When it does
// not run there, `before` is put in place again, and Error is thrown.
std::string activate(const ModelPlace& place, const InstalledModel& model, const Models& before,
                     Clock::duration limit, const ServiceControl& service) {
  if (service.unit.empty()) return "The next run takes it";
  if (service.state() == "inactive") return service.unit + " is stopped: its start takes it";
  const bool is_active = service.state() == "active";
  std::string problem;
  try {
    const auto asked = service.now();
    service.reload(/*restart=*/!is_active);
    problem = wait_for_answer(place, model, limit, service, asked);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (problem.empty()) return service.unit + " answers with it";
  if (before.empty()) {
    throw Error(ErrorKind::kBadData, fmt::format("{} does not run: {}; there is none before it",
                                                 shown_model(model), problem));
  }
  ModelStore(place.model.file).put_in_place(before);
  service.reload(/*restart=*/true);  // whatever the model does to the process
  throw Error(ErrorKind::kBadData,
              fmt::format("{} does not run: {}; {} is back", shown_model(model), problem,
                          shown_model(before.front())));
}

// The copies of `model` and of what is in place are kept.
std::string use(const ModelPlace& place, InstalledModel model, const Models& before,
                Clock::duration limit, const ServiceControl& service) {
  model.at = milliseconds_now();
  Models installed = before;
  const auto old = std::find_if(installed.begin(), installed.end(),
                                [&](const auto& each) { return each.sha256 == model.sha256; });
  if (old != installed.end()) installed.erase(old);
  installed.insert(installed.begin(), model);
  ModelStore(place.model.file).put_in_place(installed);
  const std::string done = activate(place, model, before, limit, service);
  std::string text =
      fmt::format("{}{}, {}, is in {}: {}\n", watches_text(place), shown_model(model),
                  model.is_head ? "a head, which is data"
                                : "an archive, which is a "
                                  "program",
                  place.model.file, shown_labels(model.labels));
  text += done;
  if (installed.size() > 1) {
    text += fmt::format("; lookout model back puts {} back", shown_model(installed[1]));
  }
  return text + ".\n";
}

// Everybody who may read models may read those that root installs.
class ReadableFiles {
 public:
  ReadableFiles() : before_(::umask(S_IWGRP | S_IWOTH)) {}
  ~ReadableFiles() { ::umask(before_); }
  ReadableFiles(const ReadableFiles&) = delete;
  ReadableFiles& operator=(const ReadableFiles&) = delete;

 private:
  mode_t before_;
};

void keep_current(const ModelStore& store, const KnownModels& known) {
  if (known.current) store.keep(known.current->sha256, known.bytes->bytes());
}

// Of `lookout model back`.
InstalledModel model_before(const KnownModels& known, const ModelPlace& place,
                            const std::string& hash) {
  std::vector<InstalledModel> found;
  for (const InstalledModel& model : known.all) {
    if (known.current && model.sha256 == known.current->sha256) continue;
    if (model.sha256.rfind(hash, 0) == 0) found.push_back(model);
  }
  if (!found.empty() && (hash.empty() || found.size() == 1)) return found.front();
  if (hash.empty()) {
    throw Error(ErrorKind::kNoInput,
                fmt::format("{}: no model before this one is kept; lookout model install keeps "
                            "the one that it replaces",
                            place.model.file));
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("{} kept models but the one in use begin with {}; lookout model list "
                          "shows them",
                          found.empty() ? "no" : "several", hash));
}

// ---- The list

struct ListedModel {
  InstalledModel model;
  std::optional<ModelTrial> trial;
  bool in_file = false;
};

std::vector<ListedModel> listed_models(const ModelPlace& place, const fs::path& state_folder) {
  const KnownModels known = known_models(place);
  std::vector<ListedModel> listed;
  for (const InstalledModel& model : known.all) {
    ListedModel row{model, {}, known.current && known.current->sha256 == model.sha256};
    if (!state_folder.empty()) row.trial = read_trial(state_folder, place.model.file, model);
    listed.push_back(std::move(row));
  }
  return listed;
}

bool has_failed(const ListedModel& row) { return row.in_file && row.trial && row.trial->failed; }

const char* use_text(const std::vector<ListedModel>& rows, std::size_t index) {
  if (has_failed(rows[index])) return "failed";
  if (rows[index].in_file) return "in use";
  return index == 1 && has_failed(rows[0]) ? "in use" : "kept";
}

Json list_json(const std::vector<ModelPlace>& places, const fs::path& state_folder) {
  Json files = Json::array();
  for (const ModelPlace& place : places) {
    Json models = Json::array();
    const auto rows = listed_models(place, state_folder);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ListedModel& row = rows[i];
      models.push_back(
          {{"sha256", row.model.sha256},
           {"name", row.model.name},
           {"labels", row.model.labels},
           {"kind", row.model.is_head ? "head" : "archive"},
           {"installed_ms", row.model.at},
           {"use", use_text(rows, i)},
           {"error", row.trial && !row.trial->error.empty() ? Json(row.trial->error) : Json()}});
    }
    files.push_back(
        {{"file", place.model.file}, {"watches", place.watches}, {"models", std::move(models)}});
  }
  return {{"schema", 1}, {"type", "models"}, {"files", std::move(files)}};
}

std::string list_text(const std::vector<ModelPlace>& places, const fs::path& state_folder) {
  std::string text;
  for (const ModelPlace& place : places) {
    text += fmt::format("{}{}\n", watches_text(place), place.model.file);
    const auto rows = listed_models(place, state_folder);
    if (rows.empty()) text += "  no model is there\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const InstalledModel& model = rows[i].model;
      append_format(text, "  {:<6}  {}  {}  {}  {}: {}\n", use_text(rows, i), shown_hash(model),
                    time_text(model.at), model.is_head ? "head   " : "archive",
                    printable(model.name), shown_labels(model.labels));
    }
  }
  return text;
}

// A model is put in place without what is beside it. Throws Error when a file describes it there,
// or describes what is in its place now.
void check_descriptions(const ModelArchive& incoming, const fs::path& place) {
  if (is_head(incoming.bytes()) || !read_contents(incoming).metadata.empty()) return;
  for (const fs::path& model : {incoming.path(), place}) {
    if (const auto beside = description_beside(model)) {
      throw Error(
          ErrorKind::kConfig,
          fmt::format("{} describes {} and would not go with it: set what it says in [model] "
                      "of the configuration, and take it from that folder",
                      beside->string(), model.string()));
    }
  }
}

}  // namespace

std::string install_model(const RunOptions& options, const ModelCommandOptions& command,
                          const ServiceControl& service) {
  const ModelPlace place = chosen_place(options, command);
  check_place(place, service);
  const ModelArchive incoming{command.file};
  check_descriptions(incoming, place.model.file);
  const ReadableFiles readable;
  const PlaceLock lock(place.model.file);
  const ModelStore store(place.model.file);
  KnownModels known = known_models(place);
  const std::string& hash = incoming.sha256();
  if (known.current && known.current->sha256 == hash) {
    const auto trial = read_trial(service.state_folder, place.model.file, *known.current);
    if (!trial || !trial->failed) {
      return fmt::format("{}{} is in {} already; nothing was changed.\n", watches_text(place),
                         shown_model(*known.current), place.model.file);
    }
  }
  forget_failed(place, service.state_folder, known);
  const bool is_kept = std::any_of(known.all.begin(), known.all.end(),
                                   [&hash](const auto& each) { return each.sha256 == hash; });
  try {
    store.keep(hash, incoming.bytes());
    const JudgedModel judged = judge_kept(place, store, hash, command.file);
    keep_current(store, known);
    return use(place, {hash, judged.name, judged.labels, judged.is_head}, known.all,
               answer_limit(options), service);
  } catch (const Error&) {
    const auto now = store.installed();
    const bool is_listed = std::any_of(now.begin(), now.end(),
                                       [&hash](const auto& each) { return each.sha256 == hash; });
    if (!is_kept && !is_listed) store.remove(hash);
    throw;
  }
}

std::string put_model_back(const RunOptions& options, const ModelCommandOptions& command,
                           const ServiceControl& service) {
  const ModelPlace place = chosen_place(options, command);
  check_place(place, service);
  const ReadableFiles readable;
  const PlaceLock lock(place.model.file);
  const ModelStore store(place.model.file);
  KnownModels known = known_models(place);
  forget_failed(place, service.state_folder, known);
  InstalledModel model = model_before(known, place, command.hash);
  judge_kept(place, store, model.sha256, shown_model(model));
  keep_current(store, known);
  return use(place, std::move(model), known.all, answer_limit(options), service);
}

std::string list_models(const RunOptions& options, const ModelCommandOptions& command,
                        const ServiceControl& service) {
  std::vector<ModelPlace> places = places_of(options);
  if (command.watch) places = {chosen_place(options, command)};
  places.erase(std::remove_if(places.begin(), places.end(),
                              [](const ModelPlace& place) { return place.model.file.empty(); }),
               places.end());
  if (options.results.format == Format::kJson) {
    return to_text(list_json(places, service.state_folder)) + "\n";
  }
  if (places.empty()) return "the configuration names no model file\n";
  return list_text(places, service.state_folder);
}

}  // namespace lookout
