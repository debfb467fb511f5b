#include "platform/trace_file.h"

#include <system_error>

#include "pipeline/error.h"
#include "platform/new_file.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why, bool permission) {
  throw Error(permission ? ErrorKind::kPermission : ErrorKind::kOutput,
              "trace " + path.string() + " cannot be written: " + why);
}

template <typename Use>
void with_new_file(const fs::path& path, Use use) {
  try {
    fs::remove(unfinished(path));  // of a run that was killed
    NewFile file(unfinished(path));
    use(file);
  } catch (const std::system_error& error) {
    refuse(path, error.code().message(), error.code() == std::errc::permission_denied);
  }
}

}  // namespace

Trace::Save save_to_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse(path, "it is no file", false);
  with_new_file(path, [](NewFile&) {});
  return [path](const Trace& trace) {
    with_new_file(path, [&](NewFile& file) {
      trace.write_json([&file](std::string_view part) { file.write(part); });
      file.keep_as(path);
    });
  };
}

}  // namespace lookout
