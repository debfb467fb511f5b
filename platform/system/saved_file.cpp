#include "platform/system/saved_file.h"

#include <system_error>
#include <utility>

#include "pipeline/error.h"
#include "platform/system/new_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what, const fs::path& path, const std::string& why,
                         bool permission) {
  throw Error(permission ? ErrorKind::kPermission : ErrorKind::kOutput,
              what + " " + path.string() + " cannot be written: " + why);
}

template <typename Use>
void with_new_file(const std::string& what, const fs::path& path, Use use) {
  try {
    fs::remove(unfinished(path));  // of a run that was killed
    NewFile file(unfinished(path));
    use(file);
  } catch (const std::system_error& error) {
    refuse(what, path, error.code().message(), error.code() == std::errc::permission_denied);
  }
}

}  // namespace

SavedFile::SavedFile(std::string what, fs::path path)
    : what_(std::move(what)), path_(std::move(path)) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    refuse(what_, path_, "it is no file", false);
  }
  with_new_file(what_, path_, [](NewFile&) {});
}

void SavedFile::save(const std::function<void(const WritePart&)>& content) const {
  with_new_file(what_, path_, [&](NewFile& file) {
    content([&file](std::string_view part) { file.write(part); });
    file.keep_as(path_);
  });
}

}  // namespace lookout
