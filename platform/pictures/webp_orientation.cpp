#include "platform/pictures/webp_orientation.h"

#include <webp/demux.h>

#include <cstdint>
#include <memory>

#include "platform/pictures/exif_orientation.h"

namespace lookout {
int webp_orientation(std::string_view bytes) {
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
