// The models that `lookout model install` put in the place of one that a configuration names.
//
// The file keeps its path, so that no configuration changes. The folder FILE.kept beside it has a
// copy of each of the last models, named by its SHA-256, and their list, installed.json. Who may
// write the file's folder may install; everybody who may read the file may read the folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

struct InstalledModel {
  std::string sha256;  // hexadecimal
  std::string name;
  std::vector<std::string> labels;
  bool is_head = false;  // else an archive
  // When it was put in place, in milliseconds since 1970; of a file that was there before, when
  // that was written. With the hash it names one installation: the same model that is put in place
  // again is a new one, which has to prove itself again.
  std::int64_t at = 0;
};

// Used by one thread at a time. Members throw Error(kBadData) for a damaged list, and
// Error(kOutput) or Error(kPermission) when something cannot be written.
class ModelStore {
 public:
  static constexpr std::size_t kKept = 5;  // models, with the one in use

  // `file`: the path that the configuration names. Nothing is read.
  explicit ModelStore(std::filesystem::path file);

  const std::filesystem::path& file() const { return file_; }
  // The copy of a model.
  std::filesystem::path kept(const std::string& sha256) const;
  // Whether any model was installed here.
  bool exists() const;

  // What was put in place last comes first. Those whose copies are gone are left out.
  std::vector<InstalledModel> installed() const;

  // Writes a copy, unless there is one.
  void keep(const std::string& sha256, std::string_view bytes) const;
  // Removes the copy, and the folder if that was all.
  void remove(const std::string& sha256) const;

  // Writes the list, then the file from the copy of its first model, each as a whole. When
  // something fails the file is the one before. Removes the copies of models that are not in the
  // list, and of those behind the first kKept.
  void put_in_place(std::vector<InstalledModel> installed) const;

 private:
  void write_list(const std::vector<InstalledModel>& installed) const;
  void take_back_list(const std::vector<InstalledModel>& before) const;
  void remove_others(const std::vector<InstalledModel>& installed) const;

  std::filesystem::path file_;
  std::filesystem::path folder_;
};

// The folder where what belongs to a model is looked for, such as the base of a head: that of the
// file, also for a copy in a ModelStore.
std::filesystem::path folder_of_model(const std::filesystem::path& file);

}  // namespace lookout
