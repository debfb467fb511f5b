// Looks for the size of a picture in bytes: finds one or none.
#include "platform/pictures/picture_size.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("picture", 0);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  lookout::picture_size(fmt::format("/proc/self/fd/{}", file));
  return 0;
}
