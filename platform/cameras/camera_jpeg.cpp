#include "platform/cameras/camera_jpeg.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "platform/pictures/jpeg_decoder.h"
#include "platform/pictures/jpeg_segments.h"

namespace lookout {
namespace {

constexpr std::int64_t kMaxSide = 8192;  // pixels: a larger one is a damaged header
constexpr int kFullScale = 8;            // eighths

std::string_view bytes_of(const CameraPicture& jpeg) {
  return {reinterpret_cast<const char*>(jpeg.bytes.data()), jpeg.bytes.size()};
}

bool decode(const CameraPicture& jpeg, const JpegOptions& options, cv::Mat& pixels) {
  DecodedPicture picture;
  picture.bgr = pixels;  // for its memory
  decode_jpeg(bytes_of(jpeg), {kMaxSide * kMaxSide, kMaxSide}, options, picture);
  if (picture.problem != DecodeProblem::kNone) return false;
  pixels = picture.bgr;
  return true;
}

}  // namespace

bool decode_camera_jpeg(const CameraPicture& jpeg, int eighths, cv::Mat& bgr) {
  return decode(jpeg, {JpegTolerance::kFrame, eighths}, bgr);
}

int eighths_for(const cv::Size& frame, const cv::Size& least) {
  for (const auto& [eighths, times] : {std::pair(1, 2), {2, 2}, {4, 1}}) {
    const cv::Size needed = least * (times * kFullScale);
    if (frame.width * eighths >= needed.width && frame.height * eighths >= needed.height) {
      return eighths;
    }
  }
  return kFullScale;
}

std::optional<cv::Size> JpegReader::read(CameraPicture& picture, Clock::time_point captured) {
  const auto header = size_of_jpeg(bytes_of(picture));
  if (!header || header->width > kMaxSide || header->height > kMaxSide) return std::nullopt;
  const cv::Size size(static_cast<int>(header->width), static_cast<int>(header->height));
  picture.eighths = hint_ != nullptr ? eighths_for(size, hint_->least_size()) : kFullScale;
  if (hint_ != nullptr && hint_->looks_unwanted(captured)) return size;
  if (was_still_) {
    if (!decode(picture, {JpegTolerance::kFrame, 1, /*gray=*/true}, luma_)) return std::nullopt;
    if (looks_still(luma_, size, picture)) return size;
  }
  if (!decode_camera_jpeg(picture, picture.eighths, picture.reduced)) return std::nullopt;
  picture.has_reduced = true;
  if (hint_ != nullptr) looks_still(picture.reduced, size, picture);
  return size;
}

bool JpegReader::looks_still(const cv::Mat& decoded, const cv::Size& size, CameraPicture& picture) {
  was_still_ = hint_->looks_still(decoded, size, picture.blocks);
  picture.has_blocks = !picture.blocks.empty();
  return was_still_;
}

}  // namespace lookout
