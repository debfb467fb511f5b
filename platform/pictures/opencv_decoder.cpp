#include "platform/pictures/opencv_decoder.h"

#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "platform/pictures/picture_format.h"

namespace lookout {
namespace {

int ignore(TIFF* /*file*/, void* /*data*/, const char* /*module*/, const char* /*format*/,
           va_list /*arguments*/) {
  return 1;
}

// Bytes in memory as libtiff reads them, through the functions that follow.
struct TiffBytes {
  std::string_view bytes;
  std::uint64_t place = 0;
};

tmsize_t read_tiff(thandle_t handle, void* data, tmsize_t count) {
  auto& file = *static_cast<TiffBytes*>(handle);
  if (file.place > file.bytes.size()) return 0;
  const std::string_view part = file.bytes.substr(file.place, static_cast<std::size_t>(count));
  std::copy(part.begin(), part.end(), static_cast<char*>(data));
  file.place += part.size();
  return static_cast<tmsize_t>(part.size());
}

tmsize_t write_nothing(thandle_t /*handle*/, void* /*data*/, tmsize_t /*count*/) { return 0; }

toff_t seek_tiff(thandle_t handle, toff_t offset, int whence) {
  auto& file = *static_cast<TiffBytes*>(handle);
  const std::uint64_t origin = whence == SEEK_CUR   ? file.place
                               : whence == SEEK_END ? file.bytes.size()
                                                    : 0;
  return file.place = origin + offset;
}

int close_tiff(thandle_t /*handle*/) { return 0; }

toff_t bytes_of_tiff(thandle_t handle) { return static_cast<TiffBytes*>(handle)->bytes.size(); }

using Tiff = std::unique_ptr<TIFF, void (*)(TIFF*)>;

// `file` outlives it. Null: it is no TIFF.
Tiff open_tiff(TiffBytes& file) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), ignore, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore, nullptr);
  return {TIFFClientOpenExt("picture", "rm", &file, read_tiff, write_nothing, seek_tiff, close_tiff,
                            bytes_of_tiff, nullptr, nullptr, options.get()),
          TIFFClose};
}

// As libtiff finds it, which OpenCV decodes with. A tile may be larger than the picture.
std::optional<PictureSize> size_of_tiff(std::string_view bytes) {
  TiffBytes input{bytes};
  const Tiff file = open_tiff(input);
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  const bool known = file != nullptr && TIFFGetField(file.get(), TIFFTAG_IMAGEWIDTH, &width) != 0 &&
                     TIFFGetField(file.get(), TIFFTAG_IMAGELENGTH, &height) != 0;
  if (!known) return std::nullopt;
  std::uint32_t tile_width = 0;
  std::uint32_t tile_height = 0;
  TIFFGetField(file.get(), TIFFTAG_TILEWIDTH, &tile_width);
  TIFFGetField(file.get(), TIFFTAG_TILELENGTH, &tile_height);
  return PictureSize{std::max(width, tile_width), std::max(height, tile_height)};
}

// Negative heights are of pictures that begin at the top.
std::optional<PictureSize> size_of_bmp(std::string_view bytes) {
  constexpr std::size_t kHeader = 26;
  if (bytes.size() < kHeader) return std::nullopt;
  const auto little = [bytes](std::size_t place, std::size_t count) {
    std::uint32_t value = 0;
    while (count-- > 0) value = value << 8U | static_cast<unsigned char>(bytes[place + count]);
    return value;
  };
  constexpr std::uint32_t kOs2Header = 12;
  if (little(14, 4) == kOs2Header) return PictureSize{little(18, 2), little(20, 2)};
  const auto height = static_cast<std::int32_t>(little(22, 4));
  return PictureSize{static_cast<std::int32_t>(little(18, 4)), std::abs(std::int64_t{height})};
}

}  // namespace

std::optional<PictureSize> picture_size(std::string_view bytes) {
  const PictureFormat format = picture_format(bytes);
  const auto size = format == PictureFormat::kTiff  ? size_of_tiff(bytes)
                    : format == PictureFormat::kBmp ? size_of_bmp(bytes)
                                                    : std::nullopt;
  return size && size->width > 0 && size->height > 0 ? size : std::nullopt;
}

bool is_damaged_tiff(std::string_view bytes) {
  TiffBytes input{bytes};
  const Tiff file = open_tiff(input);
  if (file == nullptr) return true;
  const bool tiled = TIFFIsTiled(file.get()) != 0;
  const tmsize_t size = tiled ? TIFFTileSize(file.get()) : TIFFStripSize(file.get());
  const std::uint32_t parts =
      tiled ? TIFFNumberOfTiles(file.get()) : TIFFNumberOfStrips(file.get());
  if (size <= 0) return true;
  std::vector<std::uint8_t> part(static_cast<std::size_t>(size));
  for (std::uint32_t i = 0; i < parts; ++i) {
    const tmsize_t count = tiled ? TIFFReadEncodedTile(file.get(), i, part.data(), size)
                                 : TIFFReadEncodedStrip(file.get(), i, part.data(), size);
    if (count < 0) return true;
  }
  return false;
}

void decode_with_opencv(std::string_view bytes, const DecodeLimits& limits,
                        DecodedPicture& picture) {
  const auto unreadable = [&] { picture.fail(DecodeProblem::kDamaged, kUnreadable); };
  const auto size = picture_size(bytes);
  if (!size) return unreadable();
  if (!is_within(*size, limits)) {
    return picture.fail(DecodeProblem::kTooManyPixels, too_large(*size, limits));
  }
  if (bytes.size() > std::numeric_limits<int>::max()) return unreadable();  // OpenCV's limit
  const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<char*>(bytes.data()));
  picture.bgr = cv::imdecode(file, cv::IMREAD_COLOR);
  if (picture.bgr.empty()) return unreadable();
  if (picture_format(bytes) == PictureFormat::kTiff && is_damaged_tiff(bytes)) {
    return picture.fail(DecodeProblem::kDamaged,
                        "is damaged: a part of the picture cannot be decoded");
  }
}

}  // namespace lookout
