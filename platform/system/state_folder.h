// A folder in which a run keeps what outlives it.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// Throws Error for the usual mistakes: the path of a file, and a folder above that is missing.
// Whether the folder can be written shows later, and ends no run. `key`: that names the folder.
void check_state_folder(const std::string& key, const std::filesystem::path& folder);

// Makes the folder unless it is there, so that its group may read it, whatever the umask. Throws
// std::system_error.
void make_readable_folder(const std::filesystem::path& folder);

// Writes the folder's names to the disk, so that a power cut takes none of them. Throws
// std::system_error.
void sync_folder(const std::filesystem::path& folder);

// Makes a folder unless it is there, and keeps other processes from writing there; the system gives
// it back when a process ends in any way.
class FolderLock {
 public:
  // Throws std::system_error, also when another process has the folder.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace lookout
