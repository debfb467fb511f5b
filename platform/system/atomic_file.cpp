#include "platform/system/atomic_file.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".XXXXXX.part";
constexpr std::size_t kMaxNameBytes = 200;  // a file's name takes 255

[[noreturn]] void fail() { throw std::system_error(errno, std::generic_category()); }

std::string shortened_name(const fs::path& path) {
  return path.filename().string().substr(0, kMaxNameBytes);
}

fs::path unfinished_path(const fs::path& path) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> letter(0, kLetters.size() - 1);
  std::string suffix(kSuffix);
  for (char& c : suffix) {
    if (c == 'X') c = kLetters[letter(random)];
  }
  return path.parent_path() / ("." + shortened_name(path) + suffix);
}

[[noreturn]] void refuse(const std::string& what, const fs::path& path, const std::string& why,
                         bool permission) {
  throw Error(permission ? ErrorKind::kPermission : ErrorKind::kOutput,
              what + " " + path.string() + " cannot be written: " + why);
}

[[noreturn]] void refuse(const std::string& what, const fs::path& path,
                         const std::error_code& why) {
  refuse(what, path, why.message(), why == std::errc::permission_denied);
}

void check_is_file(const std::string& what, const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    refuse(what, path, "it is no file", false);
  }
}

template <typename Use>
void with_temp_file(const std::string& what, const fs::path& path, Use use) {
  try {
    TempFile file(path);
    use(file);
  } catch (const std::system_error& error) {
    refuse(what, path, error.code());
  }
}

}  // namespace

TempFile::TempFile(fs::path path) : path_(std::move(path)) {
  while (!create()) {
  }
}

// Returns false when another program has the name, or removed the file before it was locked.
bool TempFile::create() {
  constexpr int kMode = 0666;  // less the umask
  unfinished_ = unfinished_path(path_);
  fd_ = open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (fd_ < 0 && errno != EEXIST) fail();
  if (fd_ < 0) return false;
  // A file system without locks refuses; then nobody removes the file.
  while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
  }
  if (access(unfinished_.c_str(), F_OK) == 0) return true;
  close(fd_);
  return false;
}

TempFile::~TempFile() {
  if (!kept_) unlink(unfinished_.c_str());
  close(fd_);
}

void TempFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail();
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TempFile::set_access(const FileAccess& access) {
  // The mode comes last: the kernel takes bits of it when the group changes.
  constexpr mode_t kNobodyElse = 0600;
  constexpr uid_t kSameOwner = static_cast<uid_t>(-1);
  if (fchmod(fd_, kNobodyElse) != 0) fail();
  if (access.group && fchown(fd_, kSameOwner, *access.group) != 0) fail();
  if (fchmod(fd_, access.mode) != 0) fail();
}

void TempFile::let_group_read() {
  struct stat status {};
  if (fstat(fd_, &status) != 0 || fchmod(fd_, (status.st_mode & 07777) | S_IRGRP) != 0) fail();
}

void TempFile::keep() {
  // The content has to be on the disk before the new name is.
  if (fsync(fd_) != 0 || rename(unfinished_.c_str(), path_.c_str()) != 0) fail();
  kept_ = true;
}

std::string final_name(const std::string& name) {
  const std::size_t added = 1 + kSuffix.size();
  if (name.size() <= added || fnmatch(".*.??????.part", name.c_str(), 0) != 0) return {};
  return name.substr(1, name.size() - added);
}

void remove_if_abandoned(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  const bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  close(fd);
}

void remove_abandoned(const fs::path& path) {
  const std::string name = shortened_name(path);
  if (name.empty()) return;
  for (const fs::path& entry : paths_in(path.has_parent_path() ? path.parent_path() : ".")) {
    if (final_name(entry.filename().string()) == name) remove_if_abandoned(entry);
  }
}

std::error_code why_not_writable(const fs::path& folder) {
  const fs::path path = folder.empty() ? "." : folder;
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (error) return error;
  if (!is_folder) return std::make_error_code(std::errc::not_a_directory);
  if (faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return {errno, std::generic_category()};
}

AtomicFile::AtomicFile(std::string what, fs::path path)
    : what_(std::move(what)), path_(std::move(path)) {
  check_is_file(what_, path_);
  remove_abandoned(path_);
  with_temp_file(what_, path_, [](TempFile&) {});
}

void AtomicFile::save(const std::function<void(const WritePart&)>& content) const {
  with_temp_file(what_, path_, [&](TempFile& file) {
    content([&file](std::string_view part) { file.write(part); });
    file.keep();
  });
}

void AtomicFile::save(const std::function<void(const WritePart&)>& content,
                      const FileAccess& access) const {
  with_temp_file(what_, path_, [&](TempFile& file) {
    file.set_access(access);
    content([&file](std::string_view part) { file.write(part); });
    file.keep();
  });
}

void check_can_write(const std::string& what, const fs::path& path) {
  check_is_file(what, path);
  if (const std::error_code why = why_not_writable(path.parent_path())) refuse(what, path, why);
}

}  // namespace lookout
