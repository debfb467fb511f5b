#include "platform/sources/video_picture.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <array>
#include <cstdlib>

#include "pipeline/core/error.h"

namespace lookout {
namespace {

constexpr int kFlags = SWS_BILINEAR;

// The formats of the full range by their names are deprecated: the same, and the range apart.
AVPixelFormat plain_format(int format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    default:
      return static_cast<AVPixelFormat>(format);
  }
}

bool is_full_range(const AVFrame& picture) {
  if (picture.color_range != AVCOL_RANGE_UNSPECIFIED) {
    return picture.color_range == AVCOL_RANGE_JPEG;
  }
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(plain_format(picture.format));
  const bool is_gray = format != nullptr && format->nb_components < 3;
  return is_gray || plain_format(picture.format) != picture.format;
}

const int* matrix_of(const AVFrame& picture) {
  if (picture.colorspace != AVCOL_SPC_UNSPECIFIED) return sws_getCoefficients(picture.colorspace);
  constexpr int kMinHdWidth = 1280;
  constexpr int kMaxSdHeight = 576;
  const bool hd = picture.width >= kMinHdWidth || picture.height > kMaxSdHeight;
  return sws_getCoefficients(hd ? SWS_CS_ITU709 : SWS_CS_ITU601);
}

// Fails for pictures that are not YUV, which need none.
void set_colors(SwsContext* context, const AVFrame& picture) {
  constexpr int kOne = 1 << 16;
  sws_setColorspaceDetails(context, matrix_of(picture), is_full_range(picture) ? 1 : 0,
                           sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, kOne, kOne);
}

}  // namespace

int orientation_of(const std::int32_t* matrix) {
  const std::int32_t a = matrix[0];
  const std::int32_t b = matrix[1];
  const std::int32_t c = matrix[3];
  const std::int32_t d = matrix[4];
  const bool transposed = std::llabs(b) > std::llabs(a);
  const bool flipped_horizontally = transposed ? c < 0 : a < 0;
  const bool flipped_vertically = transposed ? b < 0 : d < 0;
  constexpr std::array<int, 4> kStraight{1, 2, 4, 3};
  constexpr std::array<int, 4> kTransposed{5, 6, 8, 7};
  const std::size_t flips = (flipped_horizontally ? 1 : 0) + (flipped_vertically ? 2 : 0);
  return (transposed ? kTransposed : kStraight).at(flips);
}

VideoPicture::VideoPicture() = default;
VideoPicture::~VideoPicture() = default;

void VideoPicture::Free::operator()(SwsContext* context) const { sws_freeContext(context); }

void VideoPicture::convert(const AVFrame& picture, cv::Mat& bgr) {
  const int width = picture.width;
  const int height = picture.height;
  context_.reset(sws_getCachedContext(context_.release(), width, height,
                                      plain_format(picture.format), width, height, AV_PIX_FMT_BGR24,
                                      kFlags, nullptr, nullptr, nullptr));
  if (context_ == nullptr) throw Error(ErrorKind::kNoInput, "its pixel format is not supported");
  set_colors(context_.get(), picture);

  // libswscale may write whole vectors, beyond the end of a line.
  constexpr int kVector = 32;
  bgr.create(height, width, CV_8UC3);
  const bool fits = width % kVector == 0 && bgr.isContinuous();
  if (!fits) padded_.create(height + 1, (width / kVector + 2) * kVector, CV_8UC3);
  cv::Mat& target = fits ? bgr : padded_;
  const std::array<std::uint8_t*, 4> data{target.data};
  const std::array<int, 4> strides{static_cast<int>(target.step)};
  if (sws_scale(context_.get(), picture.data, picture.linesize, 0, height, data.data(),
                strides.data()) != height) {
    throw Error(ErrorKind::kNoInput, "its colors cannot be converted");
  }
  if (!fits) padded_(cv::Rect(0, 0, width, height)).copyTo(bgr);
}

}  // namespace lookout
