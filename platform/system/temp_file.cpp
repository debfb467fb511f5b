#include "platform/system/temp_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace lookout {
namespace {

[[noreturn]] void fail() { throw std::system_error(errno, std::generic_category()); }

}  // namespace

TempFile::TempFile(std::filesystem::path path) : path_(std::move(path)) {
  constexpr int kMode = 0666;  // less the umask
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (fd_ < 0) fail();
}

TempFile::~TempFile() {
  close(fd_);
  if (!kept_) unlink(path_.c_str());
}

void TempFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail();
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TempFile::keep_as(const std::filesystem::path& path) {
  // The content has to be on the disk before the new name is.
  if (fsync(fd_) != 0 || rename(path_.c_str(), path.c_str()) != 0) fail();
  kept_ = true;
}

std::error_code why_not_writable(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? "." : folder;
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  if (error) return error;
  if (!is_folder) return std::make_error_code(std::errc::not_a_directory);
  if (faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return {errno, std::generic_category()};
}

std::filesystem::path temp_path(const std::filesystem::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".part");
}

}  // namespace lookout
