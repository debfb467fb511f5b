// Pictures in a folder, no more than fit.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <opencv2/core/mat.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// Writes pictures named CAMERA_20271122T101500.123Z_LABEL.jpg (UTC; other characters than letters,
// digits, '.' and '-' of the camera's name and the label become '-'). A picture is there as a whole
// or not at all. Files of other names, as those of another camera, are neither touched nor counted.
// Used by one thread.
class SnapshotFolder {
 public:
  // `limit`: bytes that all pictures of this camera may take together. A folder that is not there
  // is made, where its parent is. Throws Error(kPermission) or Error(kOutput) when it cannot be
  // made, or pictures cannot be written into it.
  SnapshotFolder(std::filesystem::path folder, const std::string& camera, std::uint64_t limit);

  // Removes the oldest pictures, by their names, until there is room, and writes. Returns the
  // picture's path. Throws Error(kOutput) when the system refuses or the picture alone is larger
  // than the limit.
  std::filesystem::path write(const cv::Mat& bgr, std::string_view label,
                              std::chrono::system_clock::time_point time);

 private:
  bool is_own(const std::string& name) const;
  void make_room(std::uint64_t bytes) const;
  void write_file(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
  std::string prefix_;  // of names
  std::uint64_t limit_;
  std::vector<unsigned char> jpeg_;
};

// Throws as the constructor of SnapshotFolder does, but makes nothing, neither the folder nor a
// file.
void check_snapshot_folder(const std::filesystem::path& folder);

}  // namespace lookout
