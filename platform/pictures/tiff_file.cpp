#include "platform/pictures/tiff_file.h"

#include <tiffio.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <vector>

namespace lookout {
namespace {

int ignore(TIFF* /*file*/, void* /*data*/, const char* /*module*/, const char* /*format*/,
           va_list /*arguments*/) {
  return 1;
}

std::unique_ptr<TIFF, void (*)(TIFF*)> open_tiff(const std::string& path) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), ignore, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore, nullptr);
  return {TIFFOpenExt(path.c_str(), "r", options.get()), TIFFClose};
}

bool is_tiff(const std::string& path) {
  std::string start(4, '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), 4);
  return start.compare(0, 3, "II*") == 0 || start.compare(0, 3, "II+") == 0 ||
         start.compare(0, 2, "MM") == 0;
}

}  // namespace

bool is_damaged_tiff(const std::string& path) {
  if (!is_tiff(path)) return false;
  const auto file = open_tiff(path);
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

}  // namespace lookout
