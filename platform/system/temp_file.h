// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace lookout {

// Is removed by the destructor unless keep_as() was called. Members throw std::system_error when
// the system refuses.
class TempFile {
 public:
  // Creates the file `path`, which must not exist.
  explicit TempFile(std::filesystem::path path);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  void write(std::string_view bytes);

  // Writes the content to the disk and renames the file to `path`, in the same folder. Replaces a
  // file of that name.
  void keep_as(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  bool kept_ = false;
};

// The hidden path beside `path` for a file that is not complete: `.NAME.part`.
std::filesystem::path temp_path(const std::filesystem::path& path);

// Why no file can be made in a folder; no error: one can be made. Changes nothing. `folder`: empty
// for the current one.
std::error_code why_not_writable(const std::filesystem::path& folder);

}  // namespace lookout
