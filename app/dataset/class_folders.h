// Folders of pictures, one for each class, as `train` and `eval` read them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

struct ClassFolder {
  std::string name;
  std::filesystem::path path;
  std::vector<std::string> pictures;  // as list_pictures(), recursive; never empty
};

// The folders within `folder` that have pictures, sorted by name, without hidden ones. What is left
// out is logged once: system folders at any level (is_system_folder()), folders without
// pictures, and names that look alike. Throws Error(kNoInput) when there are no folders, and
// Error(kPermission) or Error(kNoInput) when one cannot be read.
std::vector<ClassFolder> read_class_folders(const std::string& folder);

// Throws as read_class_folders() where the folder cannot be read, or holds no folders.
void require_class_folders(const std::string& folder);

// Warns of names that are equal but for case, blanks at their ends and the encoding of characters.
void warn_of_names_that_look_alike(const std::vector<std::string>& names);

// A set that is split already, into folders that each have a folder for each class. Paths; empty:
// there is no such part.
struct SplitFolders {
  std::string train;
  std::string val;
  std::string test;
};

// Whether `folder` holds such parts, by their names (train, training; val, valid, validation, eval;
// test, testing; in any case) and by what is in them. Nothing when the folders within it are
// classes, or cannot be read. Throws Error(kBadData) when one part is there twice, or when classes
// lie beside the parts.
std::optional<SplitFolders> find_splits(const std::string& folder);

}  // namespace lookout
