// The pictures of changes: files that are named by the number of their change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace lookout {

// Throws Error for the usual mistakes: the path of a file, and a folder above that is missing.
// Whether the folder can be written shows later, and ends no run.
void check_history_folder(const std::filesystem::path& folder);

// Makes the folder unless it is there, so that its group may read it, whatever the umask. Throws
// std::system_error.
void make_readable_folder(const std::filesystem::path& folder);

// Holds a folder `pictures`, with a folder for each thousand numbers. A file appears when it is
// complete. Used by one thread at a time. What the system refuses is thrown as std::system_error.
class HistoryPictures {
 public:
  // `folder`: of the history.
  explicit HistoryPictures(const std::filesystem::path& folder) : folder_(folder / "pictures") {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file(std::int64_t number) const;

  void write(std::int64_t number, std::string_view jpeg) const;
  // Does nothing when there is none.
  void remove(std::int64_t number) const;
  // Removes those from `number` on, which a program wrote that ended before it wrote the change.
  void remove_from(std::int64_t number) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace lookout
