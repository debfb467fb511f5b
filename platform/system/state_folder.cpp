#include "platform/system/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "pipeline/core/error.h"

namespace lookout {

namespace fs = std::filesystem;

void check_state_folder(const std::string& key, const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kOutput, key + " " + folder.string() + " cannot be used: " + why);
  };
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  std::error_code ignored;
  const fs::file_status status = fs::status(named, ignored);
  if (fs::exists(status) && !fs::is_directory(status)) refuse("it is a file, not a folder");
  const fs::path above = fs::absolute(named).parent_path();
  if (fs::status(above, ignored).type() == fs::file_type::not_found) {
    refuse(above.string() + " does not exist; make it first");
  }
}

void make_readable_folder(const fs::path& folder) {
  constexpr fs::perms kRead = fs::perms::group_read | fs::perms::group_exec;
  if (fs::create_directory(folder)) fs::permissions(folder, kRead, fs::perm_options::add);
}

void sync_folder(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category());
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems have no such call for folders.
  if (error != 0 && error != EINVAL) throw std::system_error(error, std::generic_category());
}

FolderLock::FolderLock(const fs::path& folder) {
  make_readable_folder(folder);
  fd_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category());
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(fd_);
  throw std::system_error(EBUSY, std::generic_category(), "another run writes there");
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace lookout
