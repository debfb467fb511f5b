// A folder of pictures, of limited size.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <opencv2/core/mat.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// Writes pictures named CAMERA_20271122T101500.123Z_LABEL.jpg (UTC; other characters than letters,
// digits, '.' and '-' of the camera's name and the label become '-'). A camera's name that has such
// characters, begins with '.' or '-' or is long is followed by ~ and a hash of the whole name, so
// that no two cameras share their pictures: front-door~1a2b3c4d_2027... A picture is complete or
// absent. Files with other names, such as another camera's, are neither changed nor counted. Used
// by one thread at a time.
//
// With a limit, the order in which pictures were written can be told from their names, also when
// the clock was set back in between: the later ones end with a higher number, ..._LABEL_1.jpg,
// where the first have none.
//
// The group of a folder that it can read can read the pictures, too, whatever the umask.
class SnapshotFolder {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // `limit`: the most bytes that all pictures of this camera may take. A folder that does not exist
  // is created; its parent must exist. Throws Error(kPermission) or Error(kOutput) when the folder
  // cannot be created or written into.
  SnapshotFolder(std::filesystem::path folder, const std::string& camera, std::uint64_t limit);

  // Removes the pictures that were written first until there is room, then writes. A picture of the
  // same millisecond as the one before is called by the next millisecond: its name is its own.
  // Returns the picture's path. Throws Error(kOutput) when the system refuses or the picture alone
  // is larger than the limit.
  std::filesystem::path write(const cv::Mat& bgr, std::string_view label,
                              std::chrono::system_clock::time_point time);

 private:
  struct Picture {
    std::uint64_t era = 0;  // in one era, dates rise
    std::string name;
    std::uint64_t bytes = 0;
  };

  bool is_own(const std::string& name) const;
  std::string date_of(const std::string& name) const;
  std::uint64_t era_of(const std::string& name) const;
  std::vector<Picture> pictures() const;
  std::string number_after(const std::vector<Picture>& oldest_first, const std::string& date) const;
  void make_room(const std::vector<Picture>& oldest_first, std::uint64_t bytes) const;
  void write_file(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
  std::string prefix_;  // of names
  std::uint64_t limit_;
  std::chrono::system_clock::time_point next_{};  // the earliest time for the next name
  std::vector<unsigned char> jpeg_;
};

// Throws as the constructor of SnapshotFolder does, but makes nothing, neither the folder nor a
// file.
void check_snapshot_folder(const std::filesystem::path& folder);

}  // namespace lookout
