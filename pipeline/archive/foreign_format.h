// Names the formats of models that neither engine runs, by their content, whatever a file is
// called. Each sentence follows "model FILE: ", and tells the way to a model that runs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// `bytes`: the file. Empty: none of the formats that are known here.
std::string foreign_format(std::string_view bytes);

// The same of a ZIP file. `members`: their names; `pickle`: how its data.pkl begins, if it has one.
std::string foreign_zip_format(const std::vector<std::string>& members, std::string_view pickle);

// The same of a folder.
std::string foreign_folder_format(const std::filesystem::path& folder);

}  // namespace lookout
