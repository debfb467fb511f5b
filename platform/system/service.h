// Whether the program is a service, and what a service reads and loads.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Whether a service manager started the program (NOTIFY_SOCKET is set).
bool is_service();

// The state folder that systemd gave to this process (STATE_DIRECTORY); empty: it has none.
std::filesystem::path state_folder();

// The user of the service: deploy/lookout.sysusers.
inline constexpr const char* kServiceUser = "lookout";

// "lookout.service" for lookout.toml in `folder`, "lookout@front.service" for front.toml there.
// Empty for other files.
std::string unit_of_service(const std::filesystem::path& config,
                            const std::filesystem::path& folder = "/etc/lookout");

// Throws Error(kPermission) for a file that exists but that neither everybody nor the user or group
// lookout may read. `what` begins the sentence: "model".
void check_service_may_read(const std::string& what, const std::filesystem::path& file);

// The same, and throws Error(kNoInput) for a file that the sandbox of deploy/lookout.service.in
// hides.
void check_service_reads(const std::string& what, const std::filesystem::path& file);

// Throws Error(kPermission), whose sentence begins with `what` and the path, unless the file and
// each folder that it is in belong to root and nobody else may write to them, and it lies in one of
// the folders for libraries: a library is code, and the service's configuration only names it.
// `path` is absolute, without links.
void check_library_of_service(const std::string& what, const std::filesystem::path& path);

// The reason why a file is not to be trusted, in words that follow its path: "may be written by
// others than root". Empty: it is trusted.
std::string reason_to_distrust(const std::filesystem::path& path);

}  // namespace lookout
