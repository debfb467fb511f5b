#include "platform/system/input_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace lookout {

Error cannot_read(const std::string& what, const std::error_code& reason) {
  const bool refused = reason == std::errc::permission_denied;
  return {refused ? ErrorKind::kPermission : ErrorKind::kNoInput,
          what + " cannot be read: " + reason.message()};
}

namespace {

std::ifstream open_input(const std::string& what, const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  int reason = file ? 0 : errno;
  std::error_code ignored;
  // A folder can be opened, but not read.
  if (file && std::filesystem::is_directory(path, ignored)) reason = EISDIR;
  if (reason != 0) throw cannot_read(what + " " + path, {reason, std::generic_category()});
  return file;
}

}  // namespace

void read_input(const std::string& what, const std::string& path,
                const std::function<void(std::istream&)>& read) {
  std::ifstream file = open_input(what, path);
  try {
    read(file);
  } catch (const std::ios_base::failure& error) {  // of the buffer: the device failed
    throw cannot_read(what + " " + path, error.code());
  }
}

std::string read_input(const std::string& what, const std::string& path) {
  std::string content;
  read_input(what, path, [&content](std::istream& file) {
    content.assign(std::istreambuf_iterator<char>(file), {});
  });
  return content;
}

}  // namespace lookout
