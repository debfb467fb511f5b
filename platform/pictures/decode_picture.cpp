#include "platform/pictures/decode_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <utility>

#include "pipeline/core/log.h"
#include "platform/pictures/decode_upload.h"
#include "platform/pictures/opencv_decoder.h"
#include "platform/pictures/picture_format.h"

namespace lookout {
namespace {

void log_warnings(const std::string& name, const DecodedPicture& picture, LogLevel level) {
  if (picture.warning.empty()) return;
  const std::string more =
      picture.further_warnings > 0 ? fmt::format(" (and {} more)", picture.further_warnings) : "";
  log_at(level, "{}: {}{}", name, picture.warning, more);
}

// Only the beginning of a file that is no picture: it may be large.
std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kFormatBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (picture_format(bytes) == PictureFormat::kOther) return bytes;
  file.clear();
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(file.tellg());
  file.seekg(0);
  bytes.resize(static_cast<std::size_t>(std::max(size, std::streamoff{0})));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

DecodedPicture decode_bytes(std::string_view bytes, const DecodeLimits& limits) {
  const PictureFormat format = picture_format(bytes);
  const bool is_opencv = format == PictureFormat::kTiff || format == PictureFormat::kBmp;
  return is_opencv ? run_decoder(decode_with_opencv, bytes, limits) : decode_upload(bytes, limits);
}

std::string decode_picture(const std::string& name, const std::string& path,
                           std::int64_t max_pixels, cv::Mat& bgr) {
  std::string bytes;
  try {
    bytes = content_of(path);
  } catch (const std::bad_alloc&) {
    return message_of(DecodeProblem::kNoMemory);
  }
  if (bytes.empty()) return "is empty";
  DecodeLimits limits;
  limits.pixels = max_pixels;
  DecodedPicture picture = decode_bytes(bytes, limits);
  bgr = std::move(picture.bgr);
  if (picture.problem != DecodeProblem::kNone) return picture.message;
  const bool is_png = picture_format(bytes) == PictureFormat::kPng;
  log_warnings(name, picture, is_png ? LogLevel::kDebug : LogLevel::kWarn);
  return "";
}

}  // namespace lookout
