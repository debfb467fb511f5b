// Writes files that the user names.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lookout {

using WritePart = std::function<void(std::string_view)>;

// Several programs may write the same file at the same time: the last one that saves wins. Removes
// unfinished files of programs that were killed; see temp_file.h.
class AtomicFile {
 public:
  // Checks at once, without changing the file, that it can be written. `what` names its content in
  // errors: "trace". Throws Error(kPermission) or Error(kOutput).
  AtomicFile(std::string what, std::filesystem::path path);

  // Calls `content` with a function that takes the parts of the file, then replaces the file as a
  // whole. When anything fails, the old file stays. Throws as above.
  void save(const std::function<void(const WritePart&)>& content) const;

 private:
  std::string what_;
  std::filesystem::path path_;
};

// Throws as the constructor of AtomicFile does, but changes nothing on the disk.
void check_can_write(const std::string& what, const std::filesystem::path& path);

}  // namespace lookout
