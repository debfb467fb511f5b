// Completes the JPEG of a camera: what was complete stays as it is. Looks for a second one.
#include "platform/pictures/motion_jpeg.h"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxAdded = 420 + 2;  // the tables and the end marker
  const std::string jpeg(reinterpret_cast<const char*>(data), size);
  lookout::is_motion_jpeg(jpeg);
  const auto complete = lookout::complete_jpeg(jpeg);
  if (!complete) return 0;
  if (complete->size() > size + kMaxAdded) std::abort();
  if (complete->substr(complete->size() - 2) != "\xff\xd9") std::abort();
  if (lookout::complete_jpeg(*complete) != complete) std::abort();
  return 0;
}
