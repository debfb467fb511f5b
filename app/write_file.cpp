#include "app/write_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "pipeline/error.h"

namespace lookout {
namespace {

void write(const std::string& path, const std::string& text, std::ios::openmode mode) {
  errno = 0;
  std::ofstream file(path, mode | std::ios::binary);
  file << text << std::flush;
  if (!file) {
    throw Error(ErrorKind::kOutput,
                path + " cannot be written: " + std::generic_category().message(errno));
  }
}

}  // namespace

void check_writable(const std::string& path) { write(path, "", std::ios::app); }

void write_file(const std::string& path, const std::string& text) {
  write(path, text, std::ios::trunc);
}

}  // namespace lookout
