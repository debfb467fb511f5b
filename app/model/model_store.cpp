#include "app/model/model_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "app/report/json.h"
#include "pipeline/archive/archive.h"
#include "pipeline/core/error.h"
#include "platform/system/atomic_file.h"
#include "platform/system/input_file.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderSuffix = ".kept";
constexpr const char* kListName = "installed.json";
constexpr std::size_t kHashLength = 64;

bool is_hash(const std::string& text) {
  return text.size() == kHashLength &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Json json_of(const InstalledModel& model) {
  return {{"sha256", model.sha256},
          {"name", model.name},
          {"labels", model.labels},
          {"kind", model.is_head ? "head" : "archive"},
          {"installed_ms", model.at}};
}

// Throws nlohmann's exceptions for another type, std::out_of_range for what is missing.
InstalledModel model_of(const nlohmann::json& json) {
  InstalledModel model;
  model.sha256 = json.at("sha256").get<std::string>();
  model.name = json.at("name").get<std::string>();
  model.labels = json.at("labels").get<std::vector<std::string>>();
  model.is_head = json.at("kind").get<std::string>() == "head";
  model.at = json.at("installed_ms").get<std::int64_t>();
  return model;
}

void save_file(const std::string& what, const fs::path& path, std::string_view bytes) {
  AtomicFile(what, path).save([bytes](const WritePart& write) { write(bytes); });
}

}  // namespace

ModelStore::ModelStore(fs::path file)
    : file_(std::move(file)), folder_(file_.string() + kFolderSuffix) {}

fs::path ModelStore::kept(const std::string& sha256) const { return folder_ / sha256; }

bool ModelStore::exists() const {
  std::error_code unseen;
  return fs::exists(folder_ / kListName, unseen);
}

std::vector<InstalledModel> ModelStore::installed() const {
  if (!exists()) return {};
  const fs::path list = folder_ / kListName;
  const auto json = parse_json(read_input("list of models", list.string()));
  std::vector<InstalledModel> models;
  try {
    for (const auto& each : json.at("installed")) {
      InstalledModel model = model_of(each);
      std::error_code unseen;
      if (is_hash(model.sha256) && fs::exists(kept(model.sha256), unseen)) {
        models.push_back(std::move(model));
      }
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(
        ErrorKind::kBadData,
        fmt::format("{} is damaged: remove it, and install the model again", list.string()));
  }
  return models;
}

void ModelStore::keep(const std::string& sha256, std::string_view bytes) const {
  std::error_code why;
  fs::create_directory(folder_, why);
  if (why) {
    throw Error(why == std::errc::permission_denied ? ErrorKind::kPermission : ErrorKind::kOutput,
                fmt::format("folder {} cannot be made: {}", folder_.string(), why.message()));
  }
  if (!fs::exists(kept(sha256), why)) save_file("model", kept(sha256), bytes);
}

void ModelStore::remove(const std::string& sha256) const {
  std::error_code ignored;
  fs::remove(kept(sha256), ignored);
  if (!exists()) fs::remove(folder_, ignored);  // refused unless it is empty
}

void ModelStore::put_in_place(std::vector<InstalledModel> installed) const {
  if (installed.size() > kKept) installed.resize(kKept);
  const std::vector<InstalledModel> before = this->installed();
  const ModelArchive copy(kept(installed.front().sha256));
  write_list(installed);
  try {
    save_file("model", file_, copy.bytes());
  } catch (const Error&) {
    take_back_list(before);
    throw;
  }
  remove_others(installed);
}

void ModelStore::write_list(const std::vector<InstalledModel>& installed) const {
  Json models = Json::array();
  for (const InstalledModel& model : installed) models.push_back(json_of(model));
  const Json list{{"schema", 1}, {"installed", std::move(models)}};
  save_file("list of models", folder_ / kListName, to_text(list, 2) + "\n");
}

void ModelStore::take_back_list(const std::vector<InstalledModel>& before) const {
  try {
    write_list(before);
  } catch (const Error&) {
    // The list begins with a model that is not in use, which a run sees by its hash.
  }
}

void ModelStore::remove_others(const std::vector<InstalledModel>& installed) const {
  for (const fs::path& path : paths_in(folder_)) {
    const std::string name = path.filename();
    const bool is_listed =
        std::any_of(installed.begin(), installed.end(),
                    [&name](const InstalledModel& model) { return model.sha256 == name; });
    if (is_hash(name) && !is_listed) remove(name);
  }
}

fs::path folder_of_model(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (folder.extension() == kFolderSuffix && is_hash(file.filename())) return folder.parent_path();
  return folder;
}

}  // namespace lookout
