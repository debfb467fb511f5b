#include "app/dataset/class_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

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

enum class SplitPart { kTrain, kVal, kTest };

// The part that a folder of this name holds: "train", "Training_set", "VAL".
std::optional<SplitPart> part_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, SplitPart>, 8> kParts{
      {{"train", SplitPart::kTrain},
       {"training", SplitPart::kTrain},
       {"val", SplitPart::kVal},
       {"valid", SplitPart::kVal},
       {"validation", SplitPart::kVal},
       {"eval", SplitPart::kVal},
       {"test", SplitPart::kTest},
       {"testing", SplitPart::kTest}}};
  std::string word = lower_case(name);
  for (const std::string_view end : {"set", "data"}) {
    if (word.size() <= end.size() || word.substr(word.size() - end.size()) != end) continue;
    word.resize(word.size() - end.size());
    word.erase(word.find_last_not_of("_- ") + 1);
    break;
  }
  const auto* found = std::find_if(kParts.begin(), kParts.end(),
                                   [&word](const auto& part) { return part.first == word; });
  if (found == kParts.end()) return std::nullopt;
  return found->second;
}

// The folders of a set, as parts of it or not.
class Parts {
 public:
  explicit Parts(const Contents& set) {
    for (const fs::path& folder : set.folders) sort(folder);
  }

  // Folders of other names are classes, unless a class is in two places.
  bool are_there() const { return !parts_.empty() && (others_.empty() || have_a_common_class()); }

  // Two parts or more, all with pictures that are in no folder of a class.
  bool have_no_classes() const { return parts_.empty() && others_.empty() && flat_.size() > 1; }

  // Throws Error(kBadData).
  SplitFolders split(const std::string& set) const {
    if (!others_.empty()) {
      throw Error(
          ErrorKind::kBadData,
          fmt::format("folder {} holds {} of a split set, and {} beside: name the part that "
                      "is meant, or move the other folder away",
                      set, names_of(parts_), others_.front()));
    }
    SplitFolders split;
    for (const auto& [path, part] : parts_) {
      std::string& place = part == SplitPart::kTrain ? split.train
                           : part == SplitPart::kVal ? split.val
                                                     : split.test;
      if (!place.empty()) {
        throw Error(ErrorKind::kBadData,
                    fmt::format("folders {} and {} are the same part of a set: name the one that "
                                "is meant, or move one of them away",
                                place, path.string()));
      }
      place = path.string();
    }
    for (const auto& [path, part] : flat_) {
      log_warn("folder {} has no folders of classes and is left out", path.string());
    }
    return split;
  }

  std::string flat_names() const { return names_of(flat_); }

 private:
  using Found = std::vector<std::pair<fs::path, SplitPart>>;

  void sort(const fs::path& folder) {
    const std::string name = folder.filename().string();
    const Contents contents = contents_of(folder);
    const std::optional<SplitPart> part = part_of(name);
    const bool has_classes =
        std::any_of(contents.folders.begin(), contents.folders.end(), [](const fs::path& in) {
          const Contents of_class = contents_of(in);
          return of_class.has_pictures || !of_class.folders.empty();
        });
    if (!has_classes && !contents.has_pictures) return;
    if (!part) {
      others_.push_back(name);
      ++classes_[lower_case(name)];
    } else if (contents.has_pictures) {
      flat_.emplace_back(folder, *part);
    } else {
      parts_.emplace_back(folder, *part);
      for (const fs::path& in : contents.folders) ++classes_[lower_case(in.filename().string())];
    }
  }

  bool have_a_common_class() const {
    return std::any_of(classes_.begin(), classes_.end(),
                       [](const auto& of_name) { return of_name.second > 1; });
  }

  static std::string names_of(const Found& folders) {
    std::vector<std::string> names;
    for (const auto& [path, part] : folders) names.push_back(path.filename().string());
    return joined(names, ", ");
  }

  Found parts_;  // with folders and without pictures of their own
  Found flat_;   // with pictures of their own
  std::vector<std::string> others_;
  std::map<std::string, std::size_t> classes_;  // in how many parts or beside them each is
};

}  // namespace

void require_class_folders(const std::string& folder) {
  const Contents contents = contents_of(folder);
  if (contents.error) throw cannot_read("folder " + folder, contents.error);
  if (!contents.folders.empty()) return;
  log_systems(folder, contents.systems);
  throw Error(ErrorKind::kNoInput,
              fmt::format("folder {} has no folder for each class, such as {}; or give "
                          "--labels-csv FILE with lines of file,label",
                          folder, (fs::path(folder) / "open/").string()));
}

std::vector<ClassFolder> read_class_folders(const std::string& folder) {
  require_class_folders(folder);
  Contents contents = contents_of(folder);
  std::vector<ClassFolder> classes;
  std::vector<std::string> names;
  for (const fs::path& path : contents.folders) {
    ClassFolder of_class{path.filename().string(), path, {}};
    try {
      of_class.pictures = list_pictures(path.string(), /*recursive=*/true, &contents.systems);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoInput) throw;
      log_warn("{}; the class is left out", error.what());
      continue;
    }
    names.push_back(of_class.name);
    classes.push_back(std::move(of_class));
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
  const Parts parts(contents);
  if (parts.have_no_classes()) {
    throw Error(ErrorKind::kBadData,
                fmt::format("folder {} holds {} of a split set, whose pictures are in no "
                            "folders of classes: sort them into folders named by class, or give "
                            "--labels-csv FILE with lines of file,label",
                            folder, parts.flat_names()));
  }
  if (!parts.are_there()) return std::nullopt;
  log_systems(folder, contents.systems);
  return parts.split(folder);
}

}  // namespace lookout
