// The range of luma of cameras that declare none, measured in their pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/core/raw_picture.h"

namespace lookout {

// The share of luma, 0..1, that a picture of the limited range, 16..235, does not have: it may
// overshoot by a few levels. Of about a thousand pixels, which are spread over the picture. Pixels
// of zeros alone do not count: they are memory that a camera has not filled. Nothing where a
// picture has no others. `picture` is of a subsampled format.
std::optional<double> luma_outside(const RawPicture& picture);

// One for each opening of a camera. Used by one thread at a time.
class RangeMeter {
 public:
  // `camera` is for the log.
  explicit RangeMeter(std::string camera) : camera_(std::move(camera)) {}

  // To be called for each picture; returns whether it is to be taken as of the full range, 0..255:
  // once a picture has shown that, all that follow are. Looks at the first 30 and then at each
  // 30th, until one has. Logs at level info what is taken, and why: for the first picture, and when
  // that changes.
  bool is_full(const RawPicture& picture);

 private:
  const std::string camera_;
  std::uint64_t pictures_ = 0;
  bool logged_ = false;
  bool full_ = false;
};

}  // namespace lookout
