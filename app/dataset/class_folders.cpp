#include "app/dataset/class_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "app/dataset/class_names.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/lower_case.h"
#include "platform/sources/picture_folder.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// What a folder holds, without hidden entries and without system folders.
struct Contents {
  std::vector<fs::path> folders;  // sorted
  std::set<std::string> systems;  // names of the system folders
  bool has_pictures = false;
  std::error_code error;
};

Contents contents_of(const fs::path& folder) {
  Contents contents;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.front() == '.') continue;
    std::error_code ignored;
    if (!entries->is_directory(ignored)) {
      contents.has_pictures = contents.has_pictures || has_picture_extension(name);
    } else if (is_system_folder(name)) {
      contents.systems.insert(name);
    } else {
      contents.folders.push_back(entries->path());
    }
  }
  contents.error = error;
  std::sort(contents.folders.begin(), contents.folders.end());
  return contents;
}

void log_systems(const std::string& folder, const std::set<std::string>& systems) {
  if (systems.empty()) return;
  log_warn("folder {}: {} left out: {}", folder,
           systems.size() == 1 ? "1 system folder is"
                               : fmt::format("{} system folders are", systems.size()),
           joined(systems, ", "));
}

using SetPart = std::string SplitFolders::*;

// The part that a folder of this name holds: "train", "Training_set", "VAL"; null: none.
SetPart part_of(const std::string& name) {
  static const std::map<std::string_view, SetPart> parts{
      {"train", &SplitFolders::train},    {"training", &SplitFolders::train},
      {"val", &SplitFolders::val},        {"valid", &SplitFolders::val},
      {"validation", &SplitFolders::val}, {"eval", &SplitFolders::val},
      {"test", &SplitFolders::test},      {"testing", &SplitFolders::test}};
  std::string word = lower_case(name);
  for (const std::string_view end : {"set", "data"}) {
    if (word.size() <= end.size() || word.substr(word.size() - end.size()) != end) continue;
    word.resize(word.size() - end.size());
    word.erase(word.find_last_not_of("_- ") + 1);
    break;
  }
  const auto found = parts.find(word);
  return found == parts.end() ? nullptr : found->second;
}

struct PartFolder {
  fs::path path;
  SetPart part;
};

// The folders of a set, by their names and by what is in them. Empty folders are left out.
struct SetFolders {
  std::vector<PartFolder> parts;  // with folders of classes
  std::vector<PartFolder> flat;   // with pictures of their own
  std::vector<std::string> others;
  std::map<std::string, std::size_t>
      classes;  // the number of parts, and of others, with each class
};

SetFolders read_set_folders(const Contents& set) {
  SetFolders found;
  for (const fs::path& path : set.folders) {
    const std::string name = path.filename().string();
    const Contents contents = contents_of(path);
    const bool has_classes =
        std::any_of(contents.folders.begin(), contents.folders.end(), [](const fs::path& folder) {
          const Contents inner = contents_of(folder);
          return inner.has_pictures || !inner.folders.empty();
        });
    if (!has_classes && !contents.has_pictures) continue;
    const SetPart part = part_of(name);
    if (part == nullptr) {
      found.others.push_back(name);
      ++found.classes[lower_case(name)];
    } else if (contents.has_pictures) {
      found.flat.push_back({path, part});
    } else {
      found.parts.push_back({path, part});
      for (const fs::path& in : contents.folders)
        ++found.classes[lower_case(in.filename().string())];
    }
  }
  return found;
}

std::string names_of(const std::vector<PartFolder>& folders) {
  std::vector<std::string> names;
  names.reserve(folders.size());
  for (const PartFolder& folder : folders) names.push_back(folder.path.filename().string());
  return joined(names, ", ");
}

// Throws where there are no folders of classes.
Contents read_folders(const std::string& folder) {
  Contents contents = contents_of(folder);
  if (contents.error) throw cannot_read("folder " + folder, contents.error);
  if (!contents.folders.empty()) return contents;
  log_systems(folder, contents.systems);
  throw Error(ErrorKind::kNoInput,
              fmt::format("folder {} has no folder for each class, such as {}; or give "
                          "--labels-csv FILE with lines of file,label",
                          folder, (fs::path(folder) / "open/").string()));
}

}  // namespace

void require_class_folders(const std::string& folder) { read_folders(folder); }

std::vector<ClassFolder> read_class_folders(const std::string& folder) {
  Contents contents = read_folders(folder);
  std::vector<ClassFolder> classes;
  std::vector<std::string> names;
  for (const fs::path& path : contents.folders) {
    const std::string name = path.filename().string();
    try {
      classes.push_back(
          {name, path, list_pictures(path.string(), /*recursive=*/true, &contents.systems)});
      names.push_back(name);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoInput) throw;
      log_warn("{}; the class is left out", error.what());
    }
  }
  log_systems(folder, contents.systems);
  warn_of_names_that_look_alike(names);
  return classes;
}

void warn_of_names_that_look_alike(const std::vector<std::string>& names) {
  std::map<std::string, std::string> seen;
  for (const std::string& name : names) {
    const auto [first, is_new] = seen.emplace(folded(name), name);
    if (is_new || first->second == name) continue;
    log_warn(
        "the classes '{}' and '{}' look alike: their names differ only in case, in blanks or in "
        "how characters are encoded; if they are one class, put their pictures together",
        first->second, name);
  }
}

std::optional<SplitFolders> find_splits(const std::string& folder) {
  const Contents contents = contents_of(folder);
  const SetFolders found = read_set_folders(contents);
  if (found.parts.empty() && found.others.empty() && found.flat.size() > 1) {
    throw Error(ErrorKind::kBadData,
                fmt::format("folder {} holds {} of a split set, whose pictures are in no "
                            "folders of classes: sort them into folders named by class, or give "
                            "--labels-csv FILE with lines of file,label",
                            folder, names_of(found.flat)));
  }
  // Folders of other names are classes, unless a class is in two places.
  const bool are_parts =
      found.others.empty() || std::any_of(found.classes.begin(), found.classes.end(),
                                          [](const auto& entry) { return entry.second > 1; });
  if (found.parts.empty() || !are_parts) return std::nullopt;
  log_systems(folder, contents.systems);
  if (!found.others.empty()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("folder {} holds {} of a split set, and {} beside: name the part that "
                            "is meant, or move the other folder away",
                            folder, names_of(found.parts), found.others.front()));
  }
  SplitFolders split;
  for (const auto& [path, part] : found.parts) {
    if (!(split.*part).empty()) {
      throw Error(ErrorKind::kBadData,
                  fmt::format("folders {} and {} are the same part of a set: name the one that "
                              "is meant, or move one of them away",
                              split.*part, path.string()));
    }
    split.*part = path.string();
  }
  for (const PartFolder& flat : found.flat) {
    log_warn("folder {} has no folders of classes and is left out", flat.path.string());
  }
  return split;
}

}  // namespace lookout
