#include "platform/pictures/png_file.h"

#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "platform/pictures/exif_orientation.h"

namespace lookout {
namespace {

constexpr std::int64_t kMaxPngPixels = std::int64_t{1} << 30;  // OpenCV's limit
constexpr std::size_t kSignature = 8;                          // bytes
constexpr std::size_t kChannels = 3;

using Text = std::array<char, 128>;

struct PngMessages {
  std::FILE* file;
  Text error;
  Text warning;
  std::int64_t warnings;
  bool truncated;
};

void copy(const char* message, Text& text) {
  std::strncpy(text.data(), message, text.size() - 1);  // NUL ends it, since it was zero
}

[[noreturn]] void give_up_png(png_structp codec, png_const_charp message) {
  copy(message, static_cast<PngMessages*>(png_get_error_ptr(codec))->error);
  png_longjmp(codec, 1);
}

void keep_warning(png_structp codec, png_const_charp message) {
  auto* messages = static_cast<PngMessages*>(png_get_error_ptr(codec));
  if (messages->warnings++ == 0) copy(message, messages->warning);
}

void read_bytes(png_structp codec, png_bytep bytes, std::size_t count) {
  auto* messages = static_cast<PngMessages*>(png_get_io_ptr(codec));
  if (std::fread(bytes, 1, count, messages->file) == count) return;
  messages->truncated = std::feof(messages->file) != 0;
  png_error(codec, "the file cannot be read on");
}

// The structures of libpng, which are destroyed with this.
struct Codec {
  explicit Codec(PngMessages& messages)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &messages, give_up_png, keep_warning)) {
    if (png == nullptr) return;
    info = png_create_info_struct(png);
    end = png_create_info_struct(png);
    png_set_read_fn(png, &messages, read_bytes);
  }
  ~Codec() { png_destroy_read_struct(&png, &info, &end); }
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  png_structp png;
  png_infop info = nullptr;
  png_infop end = nullptr;
};

// Eight bits of each channel, blue first, without transparency.
void ask_for_bgr(png_structp png, png_infop info) {
  const unsigned int color = png_get_color_type(png, info);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if ((color & PNG_COLOR_MASK_COLOR) != 0) {
    png_set_bgr(png);
  } else {
    if (png_get_bit_depth(png, info) < 8) png_set_expand_gray_1_2_4_to_8(png);
    png_set_gray_to_rgb(png);
  }
}

int orientation_of(png_structp png, png_infop info) {
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(png, info, &size, &exif) == 0 || exif == nullptr) return 0;
  return exif_orientation(exif, size);
}

// EXIF data stand before the pixels, or after them.
void turn(const Codec& codec, cv::Mat& bgr) {
  const int before = orientation_of(codec.png, codec.info);
  turn_upright(before != 0 ? before : orientation_of(codec.png, codec.end), bgr);
}

void decode_png(const Codec& codec, cv::Mat& bgr) {
  png_read_info(codec.png, codec.info);
  const std::int64_t width = png_get_image_width(codec.png, codec.info);
  const std::int64_t height = png_get_image_height(codec.png, codec.info);
  if (width * height > kMaxPngPixels) png_error(codec.png, "it has too many pixels");
  ask_for_bgr(codec.png, codec.info);
  const int passes = png_set_interlace_handling(codec.png);
  png_read_update_info(codec.png, codec.info);
  if (png_get_rowbytes(codec.png, codec.info) != static_cast<std::size_t>(width) * kChannels) {
    png_error(codec.png, "its pixels have an unknown format");
  }
  bgr.create(static_cast<int>(height), static_cast<int>(width), CV_8UC3);
  for (int pass = 0; pass < passes; ++pass) {
    for (int y = 0; y < bgr.rows; ++y) png_read_row(codec.png, bgr.ptr(y), nullptr);
  }
  png_read_end(codec.png, codec.end);
}

bool is_png(std::FILE* file) {
  std::array<unsigned char, kSignature> start{};
  const bool whole = std::fread(start.data(), 1, start.size(), file) == start.size();
  std::rewind(file);
  return whole && png_sig_cmp(start.data(), 0, start.size()) == 0;
}

}  // namespace

std::optional<DecodedFile> read_png_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (file == nullptr || !is_png(file.get())) return std::nullopt;
  DecodedFile result;
  PngMessages messages{};
  messages.file = file.get();
  const Codec codec(messages);
  result.out_of_memory = codec.end == nullptr;
  if (result.out_of_memory) return result;
  // Nothing that a jump passes over has a destructor.
  if (setjmp(png_jmpbuf(codec.png)) == 0) {
    decode_png(codec, result.bgr);
    turn(codec, result.bgr);
  } else {
    result.bgr.release();
  }
  result.truncated = messages.truncated;
  result.error = messages.error.data();
  result.warning = messages.warning.data();
  if (messages.warnings > 1) result.further_warnings = messages.warnings - 1;
  return result;
}

}  // namespace lookout
