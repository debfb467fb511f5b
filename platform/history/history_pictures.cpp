#include "platform/history/history_pictures.h"

#include <optional>
#include <string>
#include <system_error>

#include "pipeline/core/error.h"
#include "platform/system/atomic_file.h"
#include "platform/system/parse_number.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPicturesInFolder = 1000;

}  // namespace

void check_history_folder(const fs::path& folder) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kOutput,
                "history.folder " + folder.string() + " cannot be used: " + why);
  };
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  std::error_code ignored;
  const fs::file_status status = fs::status(named, ignored);
  if (fs::exists(status) && !fs::is_directory(status)) refuse("it is a file, not a folder");
  const fs::path above = fs::absolute(named).parent_path();
  if (fs::status(above, ignored).type() == fs::file_type::not_found) {
    refuse(above.string() + " does not exist; make it first");
  }
}

void make_readable_folder(const fs::path& folder) {
  constexpr fs::perms kRead = fs::perms::group_read | fs::perms::group_exec;
  if (fs::create_directory(folder)) fs::permissions(folder, kRead, fs::perm_options::add);
}

fs::path HistoryPictures::file(std::int64_t number) const {
  return folder_ / std::to_string(number / kPicturesInFolder) / (std::to_string(number) + ".jpg");
}

void HistoryPictures::write(std::int64_t number, std::string_view jpeg) const {
  const fs::path path = file(number);
  make_readable_folder(folder_);
  make_readable_folder(path.parent_path());
  TempFile picture(path);
  picture.write(jpeg);
  picture.let_group_read();
  picture.keep();
}

void HistoryPictures::remove(std::int64_t number) const {
  const fs::path path = file(number);
  fs::remove(path);
  std::error_code not_empty;
  fs::remove(path.parent_path(), not_empty);
}

void HistoryPictures::remove_from(std::int64_t number) const {
  for (const fs::path& thousand : paths_in(folder_)) {
    const auto first = parse_number<std::int64_t>(thousand.filename().string());
    if (!first || *first < number / kPicturesInFolder) continue;
    for (const fs::path& path : paths_in(thousand)) {
      if (!final_name(path.filename().string()).empty()) remove_if_abandoned(path);
      const auto of_change = parse_number<std::int64_t>(path.stem().string());
      if (of_change && *of_change >= number) fs::remove(path);
    }
  }
}

}  // namespace lookout
