// Bytes as a configuration file: options, or Error(kConfig).
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "app/options/config_file.h"
#include "app/options/options.h"
#include "pipeline/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("configuration", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  try {
    lookout::RunOptions options;
    lookout::Settings settings;
    declare(settings, options);
    read_config_file(path, settings);
  } catch (const lookout::Error& error) {
    if (error.kind() != lookout::ErrorKind::kConfig) std::abort();
  }
  return 0;
}
