#include "platform/sources/picture_source.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <filesystem>
#include <new>
#include <opencv2/imgcodecs.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/open_file.h"
#include "platform/pictures/exif_orientation.h"
#include "platform/pictures/jpeg_file.h"
#include "platform/pictures/picture_size.h"
#include "platform/pictures/tiff_file.h"
#include "platform/pictures/unreadable_format.h"
#include "platform/pictures/webp_orientation.h"
#include "platform/sources/picture_folder.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnreadable = "cannot be read as a picture";
constexpr const char* kNoMemory = "needs more memory than there is";

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

bool is_regular(const OpenFile& file) {
  struct stat status {};
  return file.fd() >= 0 && ::fstat(file.fd(), &status) == 0 && S_ISREG(status.st_mode);
}

// These return why there is no picture; nothing when there is one.

std::string decode_jpeg(const std::string& name, JpegFile& jpeg, cv::Mat& bgr) {
  if (jpeg.truncated) return "is truncated: the end of the picture is missing";
  if (jpeg.out_of_memory) return kNoMemory;
  log_warnings(name, jpeg);
  bgr = std::move(jpeg.bgr);
  return bgr.empty() ? kUnreadable : "";
}

std::string decode_file(const std::string& name, const std::string& path, cv::Mat& bgr) {
  if (auto jpeg = read_jpeg_file(path)) return decode_jpeg(name, *jpeg, bgr);
  bgr = cv::imread(path, cv::IMREAD_COLOR);
  if (bgr.empty()) return unreadable_format(path).value_or(kUnreadable);
  if (is_damaged_tiff(path)) return "is damaged: a part of the picture cannot be decoded";
  turn_upright(webp_orientation(path), bgr);
  return "";
}

std::string decode(const std::string& name, std::int64_t max_pixels, cv::Mat& bgr) {
  try {
    // Something else may have taken the name since the folder was listed: this very file is meant.
    const OpenFile file(name);
    if (!is_regular(file)) return kUnreadable;
    const std::string path = fmt::format("/proc/self/fd/{}", file.fd());
    const auto size = picture_size(path);
    if (size && size->height > 0 && size->width > max_pixels / size->height) {
      return too_large(size->width, size->height, max_pixels);
    }
    return decode_file(name, path, bgr);
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  } catch (const cv::Exception& error) {  // also too large for OpenCV, or a reader's own failure
    return error.code == cv::Error::StsNoMem ? kNoMemory : kUnreadable;
  }
}

}  // namespace

PictureSource::PictureSource(const std::string& path, const PictureOptions& options)
    : max_pixels_(options.max_pixels) {
  std::error_code ignored;
  folder_ = fs::is_directory(path, ignored);
  if (folder_) {
    pictures_ = list_pictures(path, options.recursive);
    info_.name = folder_name(path);
    info_.description =
        fmt::format("folder {}{}, {} {}", path, options.recursive ? " and its folders" : "",
                    pictures_.size(), pictures_.size() == 1 ? "picture" : "pictures");
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
  const std::string problem = decode(path, max_pixels_, frame.bgr);
  frame.capture_duration = Clock::now() - frame.captured;
  if (problem.empty()) {
    frame.origin = path;
    return ReadStatus::kFrame;
  }
  if (!folder_) throw Error(ErrorKind::kNoInput, fmt::format("{} {}", path, problem));
  spdlog::warn("{} {}; skipped", path, problem);
  return ReadStatus::kSkipped;
}

}  // namespace lookout
