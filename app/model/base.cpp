#include "app/model/base.h"

#include <algorithm>
#include <string>

#include "app/model/models.h"
#include "pipeline/run/open_model.h"

namespace lookout {

std::filesystem::path models_folder() { return model_path({}).parent_path(); }

std::filesystem::path base_file(Engine engine, const std::filesystem::path& folder) {
  return folder / (std::string("base") + row_of(engine).suffix);
}

std::optional<std::filesystem::path> installed_base(const std::filesystem::path& folder) {
  const bool any_engine = std::any_of(kEngines.begin(), kEngines.end(), [](const EngineRow& row) {
    return is_installed(row.engine);
  });
  for (const EngineRow& row : kEngines) {
    if (any_engine && !is_installed(row.engine)) continue;
    std::filesystem::path file = base_file(row.engine, folder);
    std::error_code error;
    if (std::filesystem::exists(file, error)) return file;
  }
  return std::nullopt;
}

}  // namespace lookout
