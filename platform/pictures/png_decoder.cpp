#include "platform/pictures/png_decoder.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "platform/pictures/exif.h"

namespace lookout {
namespace {

constexpr std::size_t kHeader = 8 + 8 + 8;  // bytes: signature, length and name, width and height
constexpr std::size_t kChannels = 3;
constexpr std::uint32_t kPixels = 0x49444154;         // IDAT
constexpr std::size_t kBytesBehindPixels = 64 << 10;  // besides two lines

using Text = std::array<char, 128>;

struct PngState {
  std::string_view rest;  // of the file
  // Which may be read as pixels from now on. libpng reads what stands behind the last line, too.
  std::size_t pixel_bytes = std::numeric_limits<std::size_t>::max();
  Text error;
  Text warning;
  std::int64_t warnings;
  bool truncated;
};

void copy(const char* message, Text& text) {
  std::strncpy(text.data(), message, text.size() - 1);  // NUL ends it, since it was zero
}

[[noreturn]] void give_up_png(png_structp codec, png_const_charp message) {
  copy(message, static_cast<PngState*>(png_get_error_ptr(codec))->error);
  png_longjmp(codec, 1);
}

void keep_warning(png_structp codec, png_const_charp message) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(codec));
  if (state->warnings++ == 0) copy(message, state->warning);
}

void read_bytes(png_structp codec, png_bytep bytes, std::size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(codec));
  state->truncated = count > state->rest.size();
  if (state->truncated) png_error(codec, "the file ends");
  if (png_get_io_chunk_type(codec) == kPixels) {
    if (count > state->pixel_bytes) png_error(codec, "it has data behind its pixels");
    state->pixel_bytes -= count;
  }
  std::memcpy(bytes, state->rest.data(), count);
  state->rest.remove_prefix(count);
}

// Chunks that nobody reads here: libpng would keep each, decompressed.
void drop_chunks(png_structp png) {
  static constexpr std::array<png_byte, 25> kNames{"tEXt\0zTXt\0iTXt\0iCCP\0sPLT"};
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kNames.data(), 5);
}

// The structures of libpng, which are destroyed with this.
struct Codec {
  explicit Codec(PngState& state)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, give_up_png, keep_warning)) {
    if (png == nullptr) return;
    info = png_create_info_struct(png);
    end = png_create_info_struct(png);
    png_set_read_fn(png, &state, read_bytes);
    drop_chunks(png);
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
  return exif_orientation({reinterpret_cast<const char*>(exif), size});
}

// EXIF data stand before the pixels, or after them.
void turn(const Codec& codec, cv::Mat& bgr) {
  const int before = orientation_of(codec.png, codec.info);
  turn_upright(before != 0 ? before : orientation_of(codec.png, codec.end), bgr);
}

// Lines of a picture that is too large, of which the means of squares of pixels are kept.
class Means {
 public:
  void begin(std::int64_t width, std::int64_t scale) {
    scale_ = static_cast<std::size_t>(scale);
    line_.resize(static_cast<std::size_t>(width) * kChannels);
    sums_.assign(static_cast<std::size_t>(width / scale) * kChannels, 0);
  }
  unsigned char* line() { return line_.data(); }

  // Adds line() to those before; `row` gets the means when all lines of its squares were added.
  void add(unsigned char* row, bool is_last) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const unsigned char* first = &line_[i / kChannels * scale_ * kChannels + i % kChannels];
      for (std::size_t x = 0; x < scale_; ++x) sums_[i] += first[x * kChannels];
    }
    if (!is_last) return;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      row[i] = static_cast<unsigned char>(sums_[i] / (scale_ * scale_));
    }
    std::fill(sums_.begin(), sums_.end(), 0);
  }

 private:
  std::size_t scale_ = 1;
  std::vector<unsigned char> line_;
  std::vector<std::uint64_t> sums_;
};

// The last line is read with what stands behind it.
void expect_end(const Codec& codec) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(codec.png));
  state->pixel_bytes = 2 * png_get_rowbytes(codec.png, codec.info) + kBytesBehindPixels;
}

// Reads every line, in each of the passes. False when it is cancelled.
bool read_lines(const Codec& codec, const DecodeLimits& limits, const PictureSize& size, int passes,
                std::int64_t scale, Means& means, cv::Mat& bgr) {
  if (scale > 1) means.begin(size.width, scale);
  const std::int64_t lines = passes * size.height;
  for (std::int64_t line = 0; line < lines; ++line) {
    if (limits.cancelled && limits.cancelled()) return false;
    if (line == lines - 1) expect_end(codec);
    const int row = static_cast<int>(line % size.height / scale);
    png_read_row(codec.png, scale > 1 ? means.line() : bgr.ptr(row), nullptr);
    if (scale > 1 && row < bgr.rows) means.add(bgr.ptr(row), line % scale == scale - 1);
  }
  return true;
}

// The header, compared with what was allowed; then memory, and every line. Returns what is no error
// of libpng; jumps when there is one.
DecodeProblem read_pixels(const Codec& codec, const DecodeLimits& limits, Means& means,
                          cv::Mat& bgr) {
  png_read_info(codec.png, codec.info);
  const PictureSize size{png_get_image_width(codec.png, codec.info),
                         png_get_image_height(codec.png, codec.info)};
  if (!is_within(size, limits)) png_error(codec.png, "it has too many pixels");
  ask_for_bgr(codec.png, codec.info);
  const int passes = png_set_interlace_handling(codec.png);
  png_read_update_info(codec.png, codec.info);
  if (png_get_rowbytes(codec.png, codec.info) != static_cast<std::size_t>(size.width) * kChannels) {
    png_error(codec.png, "its pixels have an unknown format");
  }
  const std::int64_t scale = reducing_scale(size, limits);
  if (scale > size.width || scale > size.height || (scale > 1 && passes > 1)) {
    return DecodeProblem::kTooManyPixels;
  }
  bgr.create(static_cast<int>(size.height / scale), static_cast<int>(size.width / scale), CV_8UC3);
  if (!read_lines(codec, limits, size, passes, scale, means, bgr)) {
    return DecodeProblem::kCancelled;
  }
  png_read_end(codec.png, codec.end);
  turn(codec, bgr);
  return DecodeProblem::kNone;
}

// By the first chunk. It must be the header, which libpng passes over others to find.
std::optional<PictureSize> size_in_header(std::string_view png) {
  if (png.substr(12, 4) != "IHDR") return std::nullopt;
  const auto number = [png](std::size_t place) {
    std::int64_t value = 0;
    for (const unsigned char byte : png.substr(place, 4)) value = value << 8 | byte;
    return value;
  };
  return PictureSize{number(16), number(20)};
}

DecodeProblem read_png(const DecodeLimits& limits, PngState& state, cv::Mat& bgr) {
  const Codec codec(state);
  Means means;
  if (codec.end == nullptr) return DecodeProblem::kNoMemory;
  // Nothing that a jump passes over has a destructor.
  if (setjmp(png_jmpbuf(codec.png)) != 0) {
    return state.truncated ? DecodeProblem::kTruncated : DecodeProblem::kDamaged;
  }
  return read_pixels(codec, limits, means, bgr);
}

}  // namespace

void decode_png(std::string_view png, const DecodeLimits& limits, DecodedPicture& picture) {
  picture.problem = DecodeProblem::kNone;
  if (png.size() < kHeader) {
    picture.fail(DecodeProblem::kTruncated, message_of(DecodeProblem::kTruncated));
    return;
  }
  const auto size = size_in_header(png);
  if (!size) {
    picture.fail(DecodeProblem::kDamaged, damaged("its first chunk is not IHDR"));
    return;
  }
  if (!is_within(*size, limits)) {
    picture.fail(DecodeProblem::kTooManyPixels, too_large(*size, limits));
    return;
  }
  PngState state{};
  state.rest = png;
  const DecodeProblem problem = read_png(limits, state, picture.bgr);
  picture.warning = state.warning.data();
  picture.further_warnings = state.warnings > 1 ? state.warnings - 1 : 0;
  if (problem == DecodeProblem::kDamaged) {
    picture.fail(problem, damaged(state.error.data()));
  } else if (problem == DecodeProblem::kTooManyPixels) {
    picture.fail(problem,
                 "is too large for an interlaced PNG: send it as one that is not, or smaller");
  } else if (problem != DecodeProblem::kNone) {
    picture.fail(problem, message_of(problem));
  }
}

}  // namespace lookout
