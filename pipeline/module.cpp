#include "pipeline/module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <system_error>

#include "pipeline/error.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// The dynamic loader's message begins with the file that it could not load or use.
Error cannot_load(const std::string& path) {
  const char* text = ::dlerror();
  return {ErrorKind::kUnsupported,
          fmt::format("a library that lookout was built with is missing or has another version: {}",
                      text == nullptr ? path : text)};
}

}  // namespace

fs::path module_path(const std::string& name) {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/lookout" / name;
}

void* load_module(const std::string& name, const std::string& entry) {
  const std::string path = module_path(name).string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw Error(ErrorKind::kUnsupported, fmt::format("lookout was built without {}", path));
  }
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw cannot_load(path);
  void* function = ::dlsym(module, entry.c_str());
  if (function == nullptr) throw cannot_load(path);
  return function;
}

void check_version(const std::string& name, const ModuleVersion& version, int interface) {
  if (version.interface == interface && std::strcmp(version.release, LOOKOUT_VERSION) == 0) return;
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{} is of another version than lookout", module_path(name).string()));
}

}  // namespace lookout
