// What a service sees of a configuration, and what its unit keeps from it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/inspect/check.h"
#include "app/options/options.h"

namespace lookout {

// Whether the path lies in the folder.
bool is_in(const std::filesystem::path& path, const std::filesystem::path& folder);

// What doctor --service adds to the checks of a service's configuration: that the user lookout may
// read the file and those with secrets, and that the unit and its drop-ins below `root` allow the
// network or the devices that source and broker need. Starts nothing.
void check_service_view(const RunOptions& options, const std::string& unit,
                        const std::filesystem::path& root, std::vector<Check>& checks);

}  // namespace lookout
