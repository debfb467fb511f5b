// A file that is there as a whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace lookout {

// Has a name of its own until it is kept; removes itself unless it was. Members throw
// std::system_error when the system refuses.
class NewFile {
 public:
  // `path` must not exist; its name until then.
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);

  // Gives it its name, in the same folder, in place of a file that has it.
  void keep_as(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  bool kept_ = false;
};

// The hidden name beside `path` that a file has until it is finished: `.NAME.part`.
std::filesystem::path unfinished(const std::filesystem::path& path);

}  // namespace lookout
