#include "platform/system/picture_files.h"

#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "platform/system/atomic_file.h"
#include "platform/system/parse_number.h"
#include "platform/system/paths_in.h"
#include "platform/system/state_folder.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPicturesInFolder = 1000;

}  // namespace

fs::path PictureFiles::file(std::int64_t number) const {
  return folder_ / std::to_string(number / kPicturesInFolder) / (std::to_string(number) + ".jpg");
}

void PictureFiles::write(std::int64_t number, std::string_view jpeg) const {
  const fs::path path = file(number);
  make_readable_folder(folder_);
  make_readable_folder(path.parent_path());
  TempFile picture(path);
  picture.write(jpeg);
  picture.let_group_read();
  picture.keep();
}

void PictureFiles::remove(std::int64_t number) const {
  const fs::path path = file(number);
  fs::remove(path);
  std::error_code not_empty;
  fs::remove(path.parent_path(), not_empty);
}

void PictureFiles::remove_from(std::int64_t number) const {
  for (const fs::path& thousand : paths_in(folder_)) {
    const auto first = parse_number<std::int64_t>(thousand.filename().string());
    if (!first || *first < number / kPicturesInFolder) continue;
    for (const fs::path& path : paths_in(thousand)) {
      if (!final_name(path.filename().string()).empty()) remove_if_abandoned(path);
      const auto of_row = parse_number<std::int64_t>(path.stem().string());
      if (of_row && *of_row >= number) fs::remove(path);
    }
  }
}

std::optional<std::string> read_picture(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string jpeg{std::istreambuf_iterator<char>(stream), {}};
  return jpeg.empty() ? std::nullopt : std::optional(std::move(jpeg));
}

}  // namespace lookout
