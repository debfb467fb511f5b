// The library of a folder, also when the one that was there is damaged.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "platform/teach/teach_library.h"

namespace lookout {

// A library, and what happened to the one that was there before.
struct OpenedLibrary {
  std::unique_ptr<TeachLibrary> library;
  std::string damage;                    // it was damaged, and was set aside; empty: no
  std::filesystem::path damaged_file{};  // what its database is called now
};

// Libraries that are kept when they were damaged, each as large as TeachLimits let it be.
inline constexpr std::size_t kMaxDamaged = 3;

// Opens the library. A damaged one is set aside by set_database_aside(), with at most kMaxDamaged
// of them, and a new one begins. A database that is missing or empty is damaged, too, when there
// are pictures. Throws as TeachLibrary.
OpenedLibrary open_library(const std::filesystem::path& folder, const TeachLimits& limits = {});

// A sentence about the damaged libraries that are kept in the folder, and what they take of the
// disk, which no limit counts. Empty: there are none.
std::string note_of_damaged(const std::filesystem::path& folder);

}  // namespace lookout
