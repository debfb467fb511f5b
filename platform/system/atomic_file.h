// Writes files that appear under their names only when they are complete.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lookout {

// Who may use a file.
struct FileAccess {
  mode_t mode = 0600;
  std::optional<gid_t> group = std::nullopt;  // nothing: that of who writes it
};

// The unfinished file lies beside the finished one under a hidden name of its own,
// `.NAME.XXXXXX.part`, and is locked with flock(2). So several programs can write the same file at
// the same time, and the last one that finishes wins. A program that is killed leaves an unlocked
// file, which remove_abandoned() of a later one removes.
//
// Members throw std::system_error when the system refuses.
class TempFile {
 public:
  // Creates the unfinished file for `path`.
  explicit TempFile(std::filesystem::path path);
  // Removes the unfinished file unless keep() was called.
  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  void write(std::string_view bytes);

  // Gives the file this mode, whatever the umask, and this group.
  void set_access(const FileAccess& access);

  // Lets the file's group read it, whatever the umask.
  void let_group_read();

  // Writes the content to the disk and gives the file its name. Replaces a file of that name.
  void keep();

 private:
  bool create();

  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  int fd_ = -1;
  bool kept_ = false;
};

// The name that an unfinished file is to get: "trace.json" for ".trace.json.Ab3xYz.part". Empty for
// names of other files.
std::string final_name(const std::string& name);

// Removes the unfinished file `path` if its program has ended. Does nothing when the system
// refuses.
void remove_if_abandoned(const std::filesystem::path& path);

// Removes all unfinished files for `path` whose programs have ended.
void remove_abandoned(const std::filesystem::path& path);

// Why no file can be made in a folder; no error: one can be made. Changes nothing. `folder`: empty
// for the current one.
std::error_code why_not_writable(const std::filesystem::path& folder);

using WritePart = std::function<void(std::string_view)>;

// Several programs may write the same file at the same time: the last one that saves wins. Removes
// unfinished files of programs that were killed.
class AtomicFile {
 public:
  // Checks at once, without changing the file, that it can be written. `what` names its content in
  // errors: "trace". Throws Error(kPermission) or Error(kOutput).
  AtomicFile(std::string what, std::filesystem::path path);

  // Calls `content` with a function that takes the parts of the file, then replaces the file as a
  // whole. When anything fails, the old file stays. Throws as above.
  void save(const std::function<void(const WritePart&)>& content) const;
  // The same for a secret: nobody else can open the file at any time.
  void save(const std::function<void(const WritePart&)>& content, const FileAccess& access) const;

 private:
  std::string what_;
  std::filesystem::path path_;
};

// Throws as the constructor of AtomicFile does, but changes nothing on the disk.
void check_can_write(const std::string& what, const std::filesystem::path& path);

}  // namespace lookout
