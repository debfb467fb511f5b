#include "app/inspect/service_view.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

const char* const kUser = "lookout";  // deploy/lookout.sysusers

bool is_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = fs::absolute(path).lexically_normal().lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

bool may_read(const struct stat& status) {
  const passwd* user = getpwnam(kUser);
  const group* members = getgrnam(kUser);
  if (user != nullptr && status.st_uid == user->pw_uid) return (status.st_mode & S_IRUSR) != 0;
  if (members != nullptr && status.st_gid == members->gr_gid) {
    return (status.st_mode & S_IRGRP) != 0;
  }
  return (status.st_mode & S_IROTH) != 0;
}

}  // namespace

std::string unit_of(const fs::path& config, const fs::path& folder) {
  if (config.parent_path() != folder || config.extension() != ".toml") return {};
  const std::string name = config.stem();
  return name == kUser ? "lookout.service" : "lookout@" + name + ".service";
}

fs::path state_folder_of(const std::string& unit) {
  return fs::path("/var/lib") / fs::path(unit).stem();
}

void check_service_reads(const std::string& what, const fs::path& file) {
  for (const char* hidden : {"/home", "/root", "/run/user", "/tmp", "/var/tmp"}) {
    if (!is_in(file, hidden)) continue;
    throw Error(ErrorKind::kNoInput, fmt::format("{} {}: the service does not see {}: put it into "
                                                 "/usr/local/share/lookout or /etc/lookout",
                                                 what, file.string(), hidden));
  }
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || may_read(status)) return;
  throw Error(ErrorKind::kPermission,
              fmt::format("{} {}: the service runs as the user {}, who may not read it (sudo chmod "
                          "a+r)",
                          what, file.string(), kUser));
}

bool service_writes(const std::string& unit, const fs::path& path) {
  return is_in(path, state_folder_of(unit));
}

}  // namespace lookout
