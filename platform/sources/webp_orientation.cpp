#include "platform/sources/webp_orientation.h"

#include <webp/demux.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "platform/sources/exif_orientation.h"
#include "platform/system/input_file.h"

namespace lookout {
namespace {

bool is_webp(const std::string& path) {
  std::string start(12, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.compare(0, 4, "RIFF") == 0 && start.compare(8, 4, "WEBP") == 0;
}

}  // namespace

int webp_orientation(const std::string& path) {
  if (!is_webp(path)) return kUpright;
  const std::string bytes = read_input("picture", path);
  const WebPData data{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  const std::unique_ptr<WebPDemuxer, void (*)(WebPDemuxer*)> demuxer(WebPDemux(&data),
                                                                     WebPDemuxDelete);
  if (demuxer == nullptr) return kUpright;
  int orientation = kUpright;
  WebPChunkIterator chunk{};
  if (WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk) != 0) {
    orientation = exif_orientation(chunk.chunk.bytes, chunk.chunk.size);
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

}  // namespace lookout
