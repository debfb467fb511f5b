// Bytes as EXIF data, and as a JPEG that has them: an orientation that exists, a time or none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <opencv2/core/mat.hpp>
#include <string>

#include "platform/pictures/exif.h"
#include "platform/pictures/jpeg_segments.h"

namespace {

// A text of 19 characters holds the years from 0 to 9999.
constexpr std::int64_t kFirst = -62'167'219'200;
constexpr std::int64_t kLast = 253'402'300'799;

void check_time(const std::optional<std::int64_t>& time) {
  if (time && (*time < kFirst || *time > kLast)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const int orientation = lookout::exif_orientation(bytes);
  if (orientation < 1 || orientation > 8) std::abort();
  cv::Mat picture(2, 3, CV_8UC3, cv::Scalar::all(0));
  lookout::turn_upright(orientation, picture);
  const bool on_its_side = orientation >= 5;
  if (picture.rows != (on_its_side ? 3 : 2) || picture.cols != (on_its_side ? 2 : 3)) std::abort();
  check_time(lookout::exif_time(bytes));
  check_time(lookout::exif_time_of_jpeg(bytes));
  return 0;
}
