// Databases that were damaged, set aside with their pictures: somebody may mend them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "platform/system/sqlite.h"

namespace lookout {

// A database FILE that was set aside is FILE.damaged, a further one FILE.damaged.2, and so on. Its
// log (FILE.damaged-wal) is beside it, where SQLite finds it, and its pictures are in
// `pictures.damaged`, numbered likewise.
struct DamagedCopy {
  std::filesystem::path database;
  std::filesystem::path pictures;
  std::uintmax_t bytes = 0;  // of all its files
};

// Returns `file`, that of a database to open. Throws std::system_error when it may not be written,
// which SQLite does not say, and SqliteError for damage when it is missing or empty while there are
// pictures beside it: SQLite would remove its log, and begin a new one.
std::filesystem::path checked_database(const std::filesystem::path& file);

// Throws SqliteError for damage. The log of a damaged database, which may have what its file has
// not, then stays when it is closed.
void check_integrity(SqliteDatabase& database);

// Those of the database `file`. What cannot be read takes no bytes.
std::vector<DamagedCopy> damaged_copies(const std::filesystem::path& file);

// Renames a database that nobody uses, with its log, in which alone the newest changes may be, and
// the folder `pictures` beside it; one of these may be missing. At most `most` copies are there
// then, 9 at most: of former ones the smallest, which has the least work, goes first. Returns the
// database's new name. Throws std::system_error.
std::filesystem::path set_database_aside(const std::filesystem::path& file, std::size_t most);

}  // namespace lookout
