#include "platform/pictures/webp_orientation.h"

#include <webp/demux.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "platform/pictures/exif_orientation.h"

namespace lookout {
namespace {

// Leaves the file at its start.
bool is_webp(std::istream& file) {
  std::string start(12, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  file.clear();
  file.seekg(0);
  return start.compare(0, 4, "RIFF") == 0 && start.compare(8, 4, "WEBP") == 0;
}

}  // namespace

int webp_orientation(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!is_webp(file)) return kUpright;
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
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
