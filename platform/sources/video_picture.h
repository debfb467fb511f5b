// Decoded pictures of a video as BGR. Part of liblookout-video.so.
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/core/mat.hpp>

struct AVFrame;
struct SwsContext;

namespace lookout {

// The EXIF orientation that a display matrix of FFmpeg's (nine numbers) amounts to, in steps of 90
// degrees.
int orientation_of(const std::int32_t* matrix);

// Colors are converted with the matrix and the range that the picture has. A picture without a
// matrix is of BT.709 when it is wider than 1279 or higher than 576 pixels, else of BT.601: the
// rule of the player mpv (mp_csp_guess_colorspace).
class VideoPicture {
 public:
  VideoPicture();
  ~VideoPicture();
  VideoPicture(const VideoPicture&) = delete;
  VideoPicture& operator=(const VideoPicture&) = delete;

  // Writes `bgr` (CV_8UC3, allocated when its size differs). Throws Error(kNoInput), without the
  // file's name, when the format cannot be converted.
  void convert(const AVFrame& picture, cv::Mat& bgr);

 private:
  struct Free {
    void operator()(SwsContext* context) const;
  };

  std::unique_ptr<SwsContext, Free> context_;
  cv::Mat padded_;
};

}  // namespace lookout
