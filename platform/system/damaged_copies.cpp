#include "platform/system/damaged_copies.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "platform/system/parse_number.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr int kCopies = 9;
constexpr const char* kPictures = "pictures";  // the folder of PictureFiles
constexpr std::array kDatabaseParts{"", "-wal", "-shm"};

DamagedCopy copy_of(const fs::path& file, int number) {
  const std::string end = number == 1 ? ".damaged" : ".damaged." + std::to_string(number);
  return {file.string() + end, (file.parent_path() / kPictures).string() + end};
}

bool exists(const DamagedCopy& copy) {
  std::error_code ignored;
  return fs::exists(copy.database, ignored) || fs::exists(copy.pictures, ignored);
}

std::uintmax_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

std::uintmax_t size_of(const DamagedCopy& copy) {
  std::uintmax_t bytes = 0;
  for (const char* part : kDatabaseParts) bytes += size_of(copy.database.string() + part);
  std::error_code error;
  fs::recursive_directory_iterator entry(copy.pictures, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code not_a_file;
    if (entry->is_regular_file(not_a_file)) bytes += size_of(entry->path());
  }
  return bytes;
}

// What cannot be removed stays.
void remove_copy(const DamagedCopy& copy) {
  std::error_code ignored;
  fs::remove_all(copy.pictures, ignored);
  for (const char* part : kDatabaseParts) fs::remove(copy.database.string() + part, ignored);
}

void rename_if_there(const fs::path& from, const fs::path& to) {
  if (fs::exists(from)) fs::rename(from, to);
}

}  // namespace

fs::path checked_database(const fs::path& file) {
  std::error_code absent;
  const std::uintmax_t bytes = fs::file_size(file, absent);
  if (access((absent ? file.parent_path() : file).c_str(), W_OK) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  if (!absent && bytes > 0) return file;
  // Others may have a folder of this name, too: ours has folders that are named by numbers.
  const auto beside = paths_in(file.parent_path() / kPictures);
  const bool has_pictures = std::any_of(beside.begin(), beside.end(), [](const fs::path& path) {
    return parse_number<std::int64_t>(path.filename().string()).has_value();
  });
  if (!has_pictures) return file;
  throw SqliteError::damage(absent ? "the file is missing" : "the file is empty");
}

void check_integrity(SqliteDatabase& database) {
  database.keep_log(true);
  SqliteStatement check(database, "PRAGMA integrity_check(1)");
  if (!check.step() || check.text(0) != "ok") throw SqliteError::damage(check.text(0));
  database.keep_log(false);
}

std::vector<DamagedCopy> damaged_copies(const fs::path& file) {
  std::vector<DamagedCopy> copies;
  for (int number = 1; number <= kCopies; ++number) {
    DamagedCopy copy = copy_of(file, number);
    if (!exists(copy)) continue;
    copy.bytes = size_of(copy);
    copies.push_back(std::move(copy));
  }
  return copies;
}

fs::path set_database_aside(const fs::path& file, std::size_t most) {
  std::vector<DamagedCopy> former = damaged_copies(file);
  std::stable_sort(
      former.begin(), former.end(),
      [](const DamagedCopy& one, const DamagedCopy& other) { return one.bytes > other.bytes; });
  for (; former.size() >= most && !former.empty(); former.pop_back()) remove_copy(former.back());
  int number = 1;
  while (number < kCopies && exists(copy_of(file, number))) ++number;
  const DamagedCopy copy = copy_of(file, number);
  for (const char* part : kDatabaseParts) {
    rename_if_there(file.string() + part, copy.database.string() + part);
  }
  rename_if_there(file.parent_path() / kPictures, copy.pictures);
  return copy.database;
}

}  // namespace lookout
