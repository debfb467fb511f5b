#include "platform/pictures/jpeg_file.h"

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs it
#include <memory>

#include <jpeglib.h>
// after jpeglib.h, whose types it uses
#include <jerror.h>

#include "platform/pictures/exif_orientation.h"

namespace lookout {
namespace {

constexpr int kColorComponents = 3;
constexpr std::int64_t kMaxJpegPixels = std::int64_t{1} << 30;  // OpenCV's limit
constexpr std::size_t kMaxMarker = 0xffff;

struct JpegMessages {
  jpeg_error_mgr manager;  // first: libjpeg knows only this member
  std::jmp_buf on_error;
  std::array<char, JMSG_LENGTH_MAX> first;
  bool truncated;
  bool out_of_memory;
};

[[noreturn]] void give_up_jpeg(j_common_ptr codec) {
  auto* messages = reinterpret_cast<JpegMessages*>(codec->err);
  messages->out_of_memory = messages->manager.msg_code == JERR_OUT_OF_MEMORY;
  std::longjmp(messages->on_error, 1);
}

void keep_message(j_common_ptr codec, int level) {
  constexpr int kWarning = -1;  // other levels are traces
  if (level != kWarning) return;
  auto* messages = reinterpret_cast<JpegMessages*>(codec->err);
  if (messages->manager.msg_code == JWRN_JPEG_EOF) {
    messages->truncated = true;
    give_up_jpeg(codec);
  }
  if (messages->manager.num_warnings++ > 0) return;
  messages->manager.format_message(codec, messages->first.data());
}

// Of the first APP1 segment, as OpenCV has it; 1 (upright) without one.
int orientation_of(const jpeg_decompress_struct& codec) {
  for (const auto* marker = codec.marker_list; marker != nullptr; marker = marker->next) {
    if (marker->marker == JPEG_APP0 + 1) {
      return exif_orientation(marker->data, marker->data_length);
    }
  }
  return kUpright;
}

bool is_supported(const jpeg_decompress_struct& codec) {
  return codec.num_components <= kColorComponents &&
         std::int64_t{codec.image_width} * codec.image_height <= kMaxJpegPixels;
}

void read_lines(jpeg_decompress_struct& codec, cv::Mat& bgr) {
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = bgr.ptr(static_cast<int>(codec.output_scanline));
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
}

// Header, pixels and orientation. False when the picture is left to OpenCV.
bool decode_jpeg(jpeg_decompress_struct& codec, cv::Mat& bgr) {
  jpeg_save_markers(&codec, JPEG_APP0 + 1, kMaxMarker);
  jpeg_read_header(&codec, TRUE);
  if (!is_supported(codec)) return false;
  const int orientation = orientation_of(codec);  // libjpeg frees its markers at the end
  codec.out_color_space = JCS_EXT_BGR;
  jpeg_start_decompress(&codec);
  bgr.create(static_cast<int>(codec.output_height), static_cast<int>(codec.output_width), CV_8UC3);
  read_lines(codec, bgr);
  turn_upright(orientation, bgr);
  return true;
}

bool is_jpeg(std::FILE* file) {
  std::array<unsigned char, 3> start{};
  const bool whole = std::fread(start.data(), 1, start.size(), file) == start.size();
  std::rewind(file);
  return whole && start == std::array<unsigned char, 3>{0xff, 0xd8, 0xff};
}

}  // namespace

std::optional<DecodedFile> read_jpeg_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (file == nullptr || !is_jpeg(file.get())) return std::nullopt;
  DecodedFile result;
  JpegMessages messages{};
  jpeg_decompress_struct codec{};
  const std::unique_ptr<jpeg_decompress_struct, void (*)(j_decompress_ptr)> destroy(
      &codec, jpeg_destroy_decompress);
  // Nothing below has a destructor that a jump would pass over.
  codec.err = jpeg_std_error(&messages.manager);
  messages.manager.error_exit = give_up_jpeg;
  messages.manager.emit_message = keep_message;
  volatile bool ours = true;
  if (setjmp(messages.on_error) == 0) {
    jpeg_create_decompress(&codec);
    jpeg_stdio_src(&codec, file.get());
    ours = decode_jpeg(codec, result.bgr);
  } else {
    result.bgr.release();
  }
  result.truncated = messages.truncated;
  result.out_of_memory = messages.out_of_memory;
  result.warning = messages.first.data();
  if (messages.manager.num_warnings > 1) {
    result.further_warnings = messages.manager.num_warnings - 1;
  }
  return ours ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace lookout
