// Files that the user names for what was found.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lookout {

using WritePart = std::function<void(std::string_view)>;

class AtomicFile {
 public:
  // Makes sure at once, without changing anything, that the file can be written. `what` it holds is
  // for errors: "trace". Throws Error(kPermission) or Error(kOutput).
  AtomicFile(std::string what, std::filesystem::path path);

  // Calls `content` with what takes its parts, and saves them as a whole or not at all, in place of
  // what is there. Throws as above.
  void save(const std::function<void(const WritePart&)>& content) const;

 private:
  std::string what_;
  std::filesystem::path path_;
};

// Throws as the constructor of AtomicFile does, but touches nothing at all, not even a temporary
// file.
void check_can_write(const std::string& what, const std::filesystem::path& path);

}  // namespace lookout
