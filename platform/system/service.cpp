#include "platform/system/service.h"

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

}  // namespace

bool is_service() { return std::getenv("NOTIFY_SOCKET") != nullptr; }

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
