#include "platform/pictures/decode_picture.h"

#include <fmt/format.h>

#include <new>
#include <opencv2/imgcodecs.hpp>
#include <utility>

#include "pipeline/log.h"
#include "platform/pictures/exif_orientation.h"
#include "platform/pictures/jpeg_file.h"
#include "platform/pictures/picture_size.h"
#include "platform/pictures/png_file.h"
#include "platform/pictures/tiff_file.h"
#include "platform/pictures/unreadable_format.h"
#include "platform/pictures/webp_orientation.h"

namespace lookout {
namespace {

constexpr const char* kUnreadable = "cannot be read as a picture";
constexpr const char* kNoMemory = "needs more memory than there is";

void log_warnings(const std::string& name, const DecodedFile& file, LogLevel level) {
  if (file.warning.empty() || name.empty()) return;
  const std::string more =
      file.further_warnings > 0 ? fmt::format(" (and {} more)", file.further_warnings) : "";
  log_at(level, "{}: {}{}", name, file.warning, more);
}

// These return why there is no picture; nothing when there is one.

std::string take(const std::string& name, DecodedFile& file, LogLevel level, cv::Mat& bgr) {
  if (file.truncated) return "is truncated: the end of the picture is missing";
  if (file.out_of_memory) return kNoMemory;
  log_warnings(name, file, level);
  bgr = std::move(file.bgr);
  if (!bgr.empty()) return "";
  return file.error.empty() ? kUnreadable : fmt::format("{}: {}", kUnreadable, file.error);
}

std::string decode_file(const std::string& name, const std::string& path, cv::Mat& bgr) {
  if (auto jpeg = read_jpeg_file(path)) return take(name, *jpeg, LogLevel::kWarn, bgr);
  if (auto png = read_png_file(path)) return take(name, *png, LogLevel::kDebug, bgr);
  bgr = cv::imread(path, cv::IMREAD_COLOR);
  if (bgr.empty()) return unreadable_format(path).value_or(kUnreadable);
  if (is_damaged_tiff(path)) return "is damaged: a part of the picture cannot be decoded";
  turn_upright(webp_orientation(path), bgr);
  return "";
}

}  // namespace

std::string decode_picture(const std::string& name, const std::string& path,
                           std::int64_t max_pixels, cv::Mat& bgr) {
  try {
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

}  // namespace lookout
