// A file that is there as a whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace lookout {

// Has a name of its own until it is kept; removes itself unless it was. Members throw
// std::system_error when the system refuses.
class TempFile {
 public:
  // `path` must not exist; its name until then.
  explicit TempFile(std::filesystem::path path);
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  void write(std::string_view bytes);

  // Gives it its name, in the same folder, in place of a file that has it.
  void keep_as(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  bool kept_ = false;
};

// The hidden name beside `path` that a file has until it is finished: `.NAME.part`.
std::filesystem::path temp_path(const std::filesystem::path& path);

// Why no file can be made in a folder; no error: one can be made. Changes nothing. `folder`: empty
// for the current one.
std::error_code why_not_writable(const std::filesystem::path& folder);

}  // namespace lookout
