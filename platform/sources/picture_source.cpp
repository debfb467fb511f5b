#include "platform/sources/picture_source.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "pipeline/error.h"
#include "platform/sources/exif_orientation.h"
#include "platform/sources/jpeg_file.h"
#include "platform/sources/webp_orientation.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// The extensions of OpenCV's readers.
constexpr std::array<std::string_view, 26> kExtensions{
    ".jpg",  ".jpeg", ".jpe", ".jp2", ".png",  ".bmp", ".dib", ".webp", ".tif",
    ".tiff", ".ppm",  ".pgm", ".pbm", ".pnm",  ".pxm", ".pam", ".pfm",  ".sr",
    ".ras",  ".exr",  ".hdr", ".pic", ".avif", ".j2k", ".jpx", ".jfif"};

bool natural_order(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;
}

std::string folder_name(const std::string& folder) {
  std::error_code error;
  const fs::path full = fs::canonical(folder, error);
  const std::string name = full.filename().string();
  return error || name.empty() ? folder : name;
}

void log_warnings(const std::string& path, const JpegFile& jpeg) {
  if (jpeg.warning.empty()) return;
  const std::string more =
      jpeg.further_warnings > 0 ? fmt::format(" (and {} more)", jpeg.further_warnings) : "";
  spdlog::warn("{}: {}{}", path, jpeg.warning, more);
}

// Returns why there is no picture; nothing when there is one.
const char* decode(const std::string& path, cv::Mat& bgr) {
  constexpr const char* kUnreadable = "cannot be read as a picture";
  try {
    auto jpeg = read_jpeg_file(path);
    if (!jpeg) {
      bgr = cv::imread(path, cv::IMREAD_COLOR);
      if (!bgr.empty()) turn_upright(webp_orientation(path), bgr);
    } else if (jpeg->truncated) {
      return "is truncated: the end of the picture is missing";
    } else {
      log_warnings(path, *jpeg);
      bgr = std::move(jpeg->bgr);
    }
  } catch (const cv::Exception&) {  // too large, or a reader's own failure
    return kUnreadable;
  }
  return bgr.empty() ? kUnreadable : nullptr;
}

}  // namespace

bool has_picture_extension(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

std::vector<std::string> list_pictures(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::error_code ignored;
    if (name.front() != '.' && has_picture_extension(name) && entries->is_regular_file(ignored)) {
      names.push_back(name);
    }
  }
  if (error) throw cannot_read("folder " + folder, error);
  if (names.empty()) {
    throw Error(ErrorKind::kNoInput, fmt::format("there are no pictures in folder {}", folder));
  }
  std::sort(names.begin(), names.end(), natural_order);
  for (auto& name : names) name = (fs::path(folder) / name).string();
  return names;
}

PictureSource::PictureSource(const std::string& path) {
  std::error_code ignored;
  folder_ = fs::is_directory(path, ignored);
  if (folder_) {
    pictures_ = list_pictures(path);
    info_.name = folder_name(path);
    info_.description = fmt::format("folder {}, {} {}", path, pictures_.size(),
                                    pictures_.size() == 1 ? "picture" : "pictures");
  } else {
    pictures_ = {path};
    info_.name = fs::path(path).stem().string();
    info_.description = fmt::format("picture {}", path);
  }
}

PictureSource::PictureSource(const std::string& name, std::vector<std::string> pictures)
    : pictures_(std::move(pictures)), folder_(true) {
  info_.name = name;
  info_.description = fmt::format("{}, {} {}", name, pictures_.size(),
                                  pictures_.size() == 1 ? "picture" : "pictures");
}

ReadStatus PictureSource::read(Frame& frame, std::chrono::milliseconds /*timeout*/) {
  if (next_ == pictures_.size()) return ReadStatus::kEnd;
  const std::string& path = pictures_[next_++];
  frame.captured = Clock::now();
  const char* problem = decode(path, frame.bgr);
  frame.capture_duration = Clock::now() - frame.captured;
  if (problem == nullptr) {
    frame.origin = path;
    return ReadStatus::kFrame;
  }
  if (!folder_) throw Error(ErrorKind::kNoInput, fmt::format("{} {}", path, problem));
  spdlog::warn("{} {}; skipped", path, problem);
  return ReadStatus::kSkipped;
}

}  // namespace lookout
