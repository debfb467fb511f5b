#include "platform/system/atomic_file.h"

#include <system_error>
#include <utility>

#include "pipeline/core/error.h"
#include "platform/system/temp_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const fs::path& path, const std::string& why,
                         bool permission) {
  throw Error(permission ? ErrorKind::kPermission : ErrorKind::kOutput,
              what + " " + path.string() + " cannot be written: " + why);
}

[[noreturn]] void refuse(const std::string& what, const fs::path& path,
                         const std::error_code& why) {
  refuse(what, path, why.message(), why == std::errc::permission_denied);
}

void check_is_file(const std::string& what, const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    refuse(what, path, "it is no file", false);
  }
}

template <typename Use>
void with_temp_file(const std::string& what, const fs::path& path, Use use) {
  try {
    TempFile file(path);
    use(file);
  } catch (const std::system_error& error) {
    refuse(what, path, error.code());
  }
}

}  // namespace

AtomicFile::AtomicFile(std::string what, fs::path path)
    : what_(std::move(what)), path_(std::move(path)) {
  check_is_file(what_, path_);
  remove_abandoned(path_);
  with_temp_file(what_, path_, [](TempFile&) {});
}

void AtomicFile::save(const std::function<void(const WritePart&)>& content) const {
  with_temp_file(what_, path_, [&](TempFile& file) {
    content([&file](std::string_view part) { file.write(part); });
    file.keep();
  });
}

void check_can_write(const std::string& what, const fs::path& path) {
  check_is_file(what, path);
  if (const std::error_code why = why_not_writable(path.parent_path())) refuse(what, path, why);
}

}  // namespace lookout
