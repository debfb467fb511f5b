#include "platform/pictures/opencv_decoder.h"

#include <opencv2/imgcodecs.hpp>

#include "platform/pictures/picture_format.h"
#include "platform/pictures/picture_size.h"
#include "platform/pictures/tiff_file.h"

namespace lookout {

void decode_with_opencv(std::string_view bytes, const DecodeLimits& limits,
                        DecodedPicture& picture) {
  const auto fail = [&](DecodeProblem problem, std::string message) {
    picture.fail(problem, std::move(message));
  };
  const auto unreadable = [&] { fail(DecodeProblem::kDamaged, kUnreadable); };
  const auto size = picture_size(bytes);
  if (!size) return unreadable();
  if (!is_within(*size, limits)) {
    return fail(DecodeProblem::kTooManyPixels, too_large(*size, limits));
  }
  if (bytes.size() > std::numeric_limits<int>::max()) return unreadable();  // OpenCV's limit
  const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  picture.bgr = cv::imdecode(file, cv::IMREAD_COLOR);
  if (picture.bgr.empty()) return unreadable();
  if (picture_format(bytes) == PictureFormat::kTiff && is_damaged_tiff(bytes)) {
    return fail(DecodeProblem::kDamaged, "is damaged: a part of the picture cannot be decoded");
  }
}

}  // namespace lookout
