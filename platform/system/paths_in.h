// The content of a folder.
#pragma once

#include <filesystem>
#include <system_error>
#include <vector>

namespace lookout {

// The paths in a folder, in no order; empty when it does not exist. An error while reading ends the
// list, since files and devices come and go.
inline std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    paths.push_back(entry->path());
  }
  return paths;
}

}  // namespace lookout
