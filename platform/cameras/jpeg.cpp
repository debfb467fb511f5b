#include "platform/cameras/jpeg.h"

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <jerror.h>

namespace lookout {
namespace {

constexpr int kFewBytes = 16;          // between two markers
constexpr JDIMENSION kMaxSide = 8192;  // pixels: a larger one is a damaged header

struct Errors {
  jpeg_error_mgr manager;  // first: libjpeg knows only this member
  std::jmp_buf way_out;
};

[[noreturn]] void give_up_frame(j_common_ptr codec) {
  std::longjmp(reinterpret_cast<Errors*>(codec->err)->way_out, 1);
}

void take_message(j_common_ptr codec, int level) {
  if (level >= 0) return;  // no warning
  const jpeg_error_mgr& message = *codec->err;
  switch (message.msg_code) {
    case JWRN_JPEG_EOF:  // when data are missing as well, another warning follows
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
      return;
    case JWRN_EXTRANEOUS_DATA:
      if (message.msg_parm.i[0] <= kFewBytes) return;
      break;
    default:
      break;
  }
  give_up_frame(codec);
}

bool decode_frame(jpeg_decompress_struct& codec, cv::Mat& bgr) {
  jpeg_read_header(&codec, TRUE);
  if (codec.image_width > kMaxSide || codec.image_height > kMaxSide) return false;
  bgr.create(static_cast<int>(codec.image_height), static_cast<int>(codec.image_width), CV_8UC3);
  codec.out_color_space = JCS_EXT_BGR;
  jpeg_start_decompress(&codec);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = bgr.ptr(static_cast<int>(codec.output_scanline));
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  return true;
}

}  // namespace

bool decode_jpeg(const unsigned char* data, std::size_t length, cv::Mat& bgr) {
  if (length == 0) return false;  // libjpeg would treat it as an error of the caller
  // Nothing below has a destructor that a jump would pass over.
  Errors errors{};
  jpeg_decompress_struct codec{};
  codec.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = give_up_frame;
  errors.manager.emit_message = take_message;
  if (setjmp(errors.way_out) != 0) {
    jpeg_destroy_decompress(&codec);
    return false;
  }
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, data, static_cast<unsigned long>(length));
  const bool good = decode_frame(codec, bgr);
  jpeg_destroy_decompress(&codec);
  return good;
}

}  // namespace lookout
