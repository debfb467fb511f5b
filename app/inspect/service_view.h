// The service as seen from the outside: which unit a configuration belongs to, and which files its
// sandbox hides.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// "lookout.service" for lookout.toml in `folder`, "lookout@front.service" for front.toml there.
// Empty for other files.
std::string unit_of(const std::filesystem::path& config, const std::filesystem::path& folder);

// The folder that the unit may write to: "/var/lib/lookout", "/var/lib/lookout@front".
std::filesystem::path state_folder_of(const std::string& unit);

// Throws Error(kNoInput) for a file that the sandbox of deploy/lookout.service.in hides, and
// Error(kPermission) for one that exists but that neither everybody nor the user or group lookout
// may read. `what` begins the sentence: "model".
void check_service_reads(const std::string& what, const std::filesystem::path& file);

// Whether `path` is in the folder that the unit may write to, or that folder itself.
bool service_writes(const std::string& unit, const std::filesystem::path& path);

}  // namespace lookout
