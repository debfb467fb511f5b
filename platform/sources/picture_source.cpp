#include "platform/sources/picture_source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/open_file.h"
#include "platform/pictures/decode_picture.h"
#include "platform/sources/picture_folder.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

std::string folder_name(const std::string& folder) {
  std::error_code error;
  const fs::path full = fs::canonical(folder, error);
  const std::string name = full.filename().string();
  return error || name.empty() ? folder : name;
}

bool is_regular(const OpenFile& file) {
  struct stat status {};
  return file.fd() >= 0 && ::fstat(file.fd(), &status) == 0 && S_ISREG(status.st_mode);
}

// Why there is no picture; empty when there is one.
std::string decode_or_explain(const std::string& path, std::int64_t max_pixels, cv::Mat& bgr) {
  // Something else may have taken the name since the folder was listed: this very file is meant.
  const OpenFile file(path);
  if (!is_regular(file)) return "cannot be read as a picture";
  return decode_picture(path, fmt::format("/proc/self/fd/{}", file.fd()), max_pixels, bgr);
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
  const std::string problem = decode_or_explain(path, max_pixels_, frame.bgr);
  frame.capture_duration = Clock::now() - frame.captured;
  if (problem.empty()) {
    frame.origin = path;
    return ReadStatus::kFrame;
  }
  if (!folder_) throw Error(ErrorKind::kNoInput, fmt::format("{} {}", path, problem));
  log_warn("{} {}; skipped", path, problem);
  return ReadStatus::kSkipped;
}

}  // namespace lookout
