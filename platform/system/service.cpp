#include "platform/system/service.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLibraryFolders{"/usr/local/lib/lookout", "/usr/lib/lookout"};

bool is_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

bool service_may_read(const struct stat& status) {
  const passwd* user = ::getpwnam(kServiceUser);
  const group* members = ::getgrnam(kServiceUser);
  if (user != nullptr && status.st_uid == user->pw_uid) return (status.st_mode & S_IRUSR) != 0;
  if (members != nullptr && status.st_gid == members->gr_gid) {
    return (status.st_mode & S_IRGRP) != 0;
  }
  return (status.st_mode & S_IROTH) != 0;
}

}  // namespace

bool is_service() { return std::getenv("NOTIFY_SOCKET") != nullptr; }

fs::path state_folder() {
  const char* folders = std::getenv("STATE_DIRECTORY");  // systemd.exec(5)
  const std::string text = folders == nullptr ? "" : folders;
  return text.substr(0, text.find(':'));
}

std::string unit_of_service(const fs::path& config, const fs::path& folder) {
  if (config.parent_path() != folder || config.extension() != ".toml") return {};
  const std::string name = config.stem();
  return name == "lookout" ? "lookout.service" : "lookout@" + name + ".service";
}

void check_service_reads(const std::string& what, const fs::path& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  for (const char* hidden : {"/home", "/root", "/run/user", "/tmp", "/var/tmp"}) {
    if (!is_in(path, hidden)) continue;
    throw Error(ErrorKind::kNoInput, fmt::format("{} {}: the service does not see {}: put it into "
                                                 "/usr/local/share/lookout or /etc/lookout",
                                                 what, file.string(), hidden));
  }
  check_service_may_read(what, file);
}

void check_service_may_read(const std::string& what, const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || service_may_read(status)) return;
  throw Error(ErrorKind::kPermission,
              fmt::format("{} {}: the service runs as the user {}, who may not read it (sudo chmod "
                          "a+r)",
                          what, file.string(), kServiceUser));
}

std::string reason_to_distrust(const fs::path& path) {
  for (fs::path part = path;; part = part.parent_path()) {
    struct stat status {};
    const std::string name = part == path ? "" : "is in " + part.string() + ", which ";
    if (::lstat(part.c_str(), &status) != 0) {
      return name + "cannot be examined: " + std::generic_category().message(errno);
    }
    if (status.st_uid != 0) return name + "does not belong to root";
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      return name + "may be written by others than root";
    }
    if (part == part.parent_path()) return {};
  }
}

void check_library_of_service(const std::string& what, const fs::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kPermission, what + " " + path.string() + " " + why);
  };
  const bool in_its_place =
      std::any_of(kLibraryFolders.begin(), kLibraryFolders.end(),
                  [&path](const char* folder) { return is_in(path, folder); });
  if (!in_its_place) {
    refuse("is not loaded by a service: put it into /usr/local/lib/lookout, as root");
  }
  const std::string reason = reason_to_distrust(path);
  if (!reason.empty()) refuse(reason + ": a service does not load it");
}

}  // namespace lookout
