// The files of `lookout setup`: what answers come to, and how it is put in place as a whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/install/setup_questions.h"
#include "platform/system/atomic_file.h"

namespace lookout {

inline constexpr const char* kSetupRecord = "/etc/lookout/setup.json";
inline constexpr const char* kSetupConfig = "/etc/lookout/conf.d/50-setup.toml";
inline constexpr const char* kSetupSecrets = "/etc/lookout/credentials";
inline constexpr const char* kServiceDropIn = "/etc/systemd/system/lookout.service.d/50-setup.conf";
inline constexpr const char* kSocketDropIn = "/etc/systemd/system/lookout.socket.d/50-setup.conf";

// The port of the page, as in deploy/lookout.socket.
inline constexpr int kPagePort = 8090;

struct PlannedFile {
  std::string path;  // below the root
  std::string content;
  FileAccess access{0644};
};

// All files that the answers of `run` come to, but for the record. `password`: the file with the
// hash of the page's password, below the root.
std::vector<PlannedFile> planned_files(const SetupRun& run, const std::string& password);

// The text of the record.
std::string to_text(const SetupRecord& record);
// Throws Error(kBadData) for a damaged one, and as of files. Empty when there is none.
SetupRecord read_setup_record(const std::filesystem::path& root);

// Names the file with the password that setup wrote, which the unit hands to the service, unless
// another file is named or the broker is not that of setup. Throws as read_setup_record().
MqttOptions with_setup_password(MqttOptions mqtt, const std::filesystem::path& root = "/");

// Changes of files that are taken back unless keep() is called. Members throw Error.
class FileChanges {
 public:
  explicit FileChanges(std::filesystem::path root) : root_(std::move(root)) {}
  ~FileChanges();
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // Whether a file has another content or mode than is planned.
  bool differs(const PlannedFile& file) const;
  bool exists(const std::string& path) const;
  // Writes it as a whole, with the folders above it.
  void write(const PlannedFile& file);
  // Removes a file, and the folders that setup makes when nothing else is in them.
  void remove(const std::string& path);
  void take_back() noexcept;
  void keep() { done_.clear(); }

 private:
  struct Done {
    std::string path;
    std::optional<std::string> before;  // nothing: there was no file
    FileAccess access;
  };

  void note(const std::string& path);
  void make_folders(const std::filesystem::path& folder);
  void remove_empty_folders(const std::string& path);
  std::filesystem::path place(const std::string& path) const {
    return root_ / std::filesystem::path(path).relative_path();
  }

  const std::filesystem::path root_;
  std::vector<Done> done_;
};

}  // namespace lookout
