#include "platform/system/input_file.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"

namespace lookout {

Error cannot_read(const std::string& what, const std::error_code& reason) {
  const bool refused = reason == std::errc::permission_denied;
  return {refused ? ErrorKind::kPermission : ErrorKind::kNoInput,
          what + " cannot be read: " + reason.message()};
}

namespace {

// Files of /dev and /proc are descriptors, and nothing that chmod could close.
bool can_be_closed(const std::filesystem::path& path) {
  const auto parent = std::filesystem::absolute(path).lexically_normal().parent_path();
  const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");  // their mode is an ACL's mask
  if (credentials && parent == std::filesystem::path(credentials).lexically_normal()) return false;
  const std::string folder = parent.string() + "/";
  return folder.rfind("/dev/", 0) != 0 && folder.rfind("/proc/", 0) != 0;
}

// Whoever owns the file may change its mode; else it is given to the user that reads it.
std::string way_to_close(const std::string& path, const struct stat& status) {
  if (status.st_uid == geteuid()) return fmt::format("chmod 600 {}", path);
  const passwd* user = getpwuid(geteuid());
  const std::string name = user ? user->pw_name : std::to_string(geteuid());
  return fmt::format("sudo chown {0} {1} && sudo chmod 400 {1}", name, path);
}

void warn_if_exposed(const std::string& what, const std::string& path) {
  struct stat status {};
  if (!can_be_closed(path) || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const mode_t others = status.st_uid == 0 ? S_IROTH : S_IRGRP | S_IROTH;
  if ((status.st_mode & others) == 0) return;
  static Mutex mutex;
  static std::set<std::string> warned;  // a camera's file is read at every attempt to reach it
  const MutexLock lock(mutex);
  if (!warned.insert(path).second) return;
  log_warn("{} {} can be read by other users; this makes it private: {}", what, path,
           way_to_close(path, status));
}

}  // namespace

void read_input(const std::string& what, const std::string& path,
                const std::function<void(std::istream&)>& read) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  int reason = file ? 0 : errno;
  std::error_code ignored;
  // A folder can be opened, but not read.
  if (file && std::filesystem::is_directory(path, ignored)) reason = EISDIR;
  if (reason != 0) throw cannot_read(what + " " + path, {reason, std::generic_category()});
  try {
    read(file);
  } catch (const std::ios_base::failure& error) {  // of the buffer: the device failed
    throw cannot_read(what + " " + path, error.code());
  }
}

std::string read_input(const std::string& what, const std::string& path) {
  std::string content;
  read_input(what, path, [&content](std::istream& file) {
    content.assign(std::istreambuf_iterator<char>(file), {});
  });
  return content;
}

std::string read_secret(const std::string& what, const std::string& path) {
  std::string secret = read_input(what, path);
  warn_if_exposed(what, path);
  return secret;
}

}  // namespace lookout
