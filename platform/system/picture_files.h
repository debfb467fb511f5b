// Pictures beside a database: files that are named by the number of their row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lookout {

// Holds a folder `pictures`, with a folder for each thousand numbers. A file appears when it is
// complete. Used by one thread at a time. What the system refuses is thrown as std::system_error.
class PictureFiles {
 public:
  // `folder`: of the database.
  explicit PictureFiles(const std::filesystem::path& folder) : folder_(folder / "pictures") {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file(std::int64_t number) const;

  void write(std::int64_t number, std::string_view jpeg) const;
  // Does nothing when there is none.
  void remove(std::int64_t number) const;
  // Removes those from `number` on, which a program wrote that ended before it wrote their rows.
  void remove_from(std::int64_t number) const;

 private:
  std::filesystem::path folder_;
};

// Nothing: the file is gone by now, cannot be read, or is empty.
std::optional<std::string> read_picture(const std::filesystem::path& file);

}  // namespace lookout
