// Files that the user names for output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lookout {

using WritePart = std::function<void(std::string_view)>;

class AtomicFile {
 public:
  // Checks at once, without changing anything, that the file can be written. `what` names its
  // content in errors: "trace". Throws Error(kPermission) or Error(kOutput).
  AtomicFile(std::string what, std::filesystem::path path);

  // Calls `content` with a function that takes the parts of the file, then replaces the file as a
  // whole. When anything fails, the old file stays. Throws as above.
  void save(const std::function<void(const WritePart&)>& content) const;

 private:
  std::string what_;
  std::filesystem::path path_;
};

// Throws as the constructor of AtomicFile does, but touches nothing at all, not even a temporary
// file.
void check_can_write(const std::string& what, const std::filesystem::path& path);

}  // namespace lookout
