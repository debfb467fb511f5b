#include "platform/sources/picture_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/lower_case.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// The formats of decode_bytes().
constexpr std::array<std::string_view, 10> kPictures{".jpg", ".jpeg", ".jpe",  ".jfif", ".png",
                                                     ".bmp", ".dib",  ".webp", ".tif",  ".tiff"};

// Pictures that cannot be read.
constexpr std::array<std::string_view, 31> kUnsupported{
    ".avif", ".heic", ".heif", ".hif", ".jxl", ".psd", ".svg", ".ico", ".dng", ".cr2", ".cr3",
    ".nef",  ".arw",  ".orf",  ".raf", ".rw2", ".jp2", ".j2k", ".jpx", ".ppm", ".pgm", ".pbm",
    ".pnm",  ".pxm",  ".pam",  ".pfm", ".sr",  ".ras", ".exr", ".hdr", ".pic"};

constexpr std::array<std::string_view, 18> kVideos{
    ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg",  ".mpeg",  ".ts",
    ".mts", ".3gp", ".wmv", ".flv", ".ogv", ".y4m",  ".h264", ".mjpeg", ".m2ts"};

// In lower case, of Synology, QNAP, Windows, macOS, Android, ext4 and Python.
constexpr std::array<std::string_view, 17> kSystemFolders{"@eadir",
                                                          "@tmp",
                                                          "@recycle",
                                                          "@recently-snapshot",
                                                          "@sharebin",
                                                          "#recycle",
                                                          "#snapshot",
                                                          "$recycle.bin",
                                                          "$extend",
                                                          "system volume information",
                                                          "found.000",
                                                          "__macosx",
                                                          "network trash folder",
                                                          "temporary items",
                                                          "lost.dir",
                                                          "lost+found",
                                                          "__pycache__"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class Listing {
 public:
  Listing(fs::path folder, bool recursive) : folder_(std::move(folder)), recursive_(recursive) {}

  void read() { read({}); }

  std::vector<std::string> pictures() {
    std::sort(names_.begin(), names_.end(), [](const std::string& a, const std::string& b) {
      return strverscmp(a.c_str(), b.c_str()) < 0;
    });
    for (auto& name : names_) name = (folder_ / name).string();
    return std::move(names_);
  }

  // Empty: nothing was left out.
  std::string left_out() const {
    std::vector<std::string> kinds;
    std::size_t files = videos_ + others_;
    for (const auto& [kind, count] : unsupported_) {
      kinds.push_back(fmt::format("{} {}", count, kind));
      files += count;
    }
    if (videos_ > 0) kinds.push_back(counted(videos_, "video"));
    if (others_ > 0) kinds.push_back(counted(others_, "other file"));
    std::vector<std::string> parts;
    if (files > 0) parts.push_back(fmt::format("{} left out: {}", files, joined(kinds, ", ")));
    if (folders_ > 0) {
      parts.push_back(fmt::format("{} {} not entered (camera.recursive)",
                                  counted(folders_, "folder"), folders_ == 1 ? "is" : "are"));
    }
    if (!systems_.empty() && recursive_) {
      parts.push_back(fmt::format("{} {} left out: {}", counted(systems_.size(), "system folder"),
                                  systems_.size() == 1 ? "is" : "are", joined(systems_, ", ")));
    }
    return joined(parts, "; ");
  }

  std::set<std::string> take_systems() { return std::move(systems_); }

  // Whether what was left out may be missed.
  bool is_notable() const { return !unsupported_.empty() || videos_ > 0 || folders_ > 0; }

 private:
  // `within`: the part of the path below the folder.
  void read(const fs::path& within) {
    const fs::path path = within.empty() ? folder_ : folder_ / within;
    std::error_code error;
    fs::directory_iterator entries(path, error);
    std::vector<fs::path> folders;
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      add(*entries, within, folders);
    }
    if (error && within.empty()) throw cannot_read("folder " + path.string(), error);
    if (error) log_warn("folder {} cannot be read: {}", path.string(), error.message());
    for (const fs::path& folder : folders) read(folder);
  }

  void add(const fs::directory_entry& entry, const fs::path& within,
           std::vector<fs::path>& folders) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.') return;
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      if (is_system_folder(name)) {
        systems_.insert(name);
      } else if (!recursive_) {
        ++folders_;
      } else if (is_new(entry.path())) {
        folders.push_back(within / name);
      }
    } else if (!entry.is_regular_file(ignored)) {
      ++others_;
    } else if (has_picture_extension(name)) {
      names_.push_back((within / name).string());
    } else {
      leave_out(lower_case_extension(name));
    }
  }

  void leave_out(const std::string& extension) {
    if (contains(kUnsupported, extension)) {
      ++unsupported_[extension + " (not supported)"];
    } else if (extension == ".gif") {
      ++unsupported_[".gif (a video)"];
    } else if (contains(kVideos, extension)) {
      ++videos_;
    } else {
      ++others_;
    }
  }

  // Links may lead in a circle.
  bool is_new(const fs::path& folder) {
    if (entered_.empty()) identify(folder_);
    return identify(folder);
  }
  bool identify(const fs::path& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 &&
           entered_.emplace(status.st_dev, status.st_ino).second;
  }

  const fs::path folder_;
  const bool recursive_;
  std::vector<std::string> names_;  // relative to the folder
  std::map<std::string, std::size_t> unsupported_;
  std::size_t videos_ = 0;
  std::size_t others_ = 0;
  std::size_t folders_ = 0;        // that are not entered
  std::set<std::string> systems_;  // names of system folders
  std::set<std::pair<dev_t, ino_t>> entered_;
};

Error no_pictures(const std::string& folder, const std::string& left_out) {
  return {ErrorKind::kNoInput, fmt::format("there are no pictures in folder {}{}{}", folder,
                                           left_out.empty() ? "" : ": ", left_out)};
}

}  // namespace

bool has_picture_extension(const std::string& path) {
  return contains(kPictures, lower_case_extension(path));
}

bool is_system_folder(const std::string& name) {
  return contains(kSystemFolders, lower_case(name));
}

void require_pictures(const std::string& folder, bool recursive) {
  Listing listing(folder, recursive);
  listing.read();
  if (listing.pictures().empty()) throw no_pictures(folder, listing.left_out());
}

std::vector<std::string> list_pictures(const std::string& folder, bool recursive,
                                       std::set<std::string>* systems) {
  Listing listing(folder, recursive);
  listing.read();
  if (systems != nullptr) systems->merge(listing.take_systems());
  auto pictures = listing.pictures();
  const std::string left_out = listing.left_out();
  if (pictures.empty()) throw no_pictures(folder, left_out);
  if (!left_out.empty()) {
    log_at(listing.is_notable() ? LogLevel::kWarn : LogLevel::kInfo, "folder {}: {}", folder,
           left_out);
  }
  return pictures;
}

}  // namespace lookout
