#include "platform/system/module.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "pipeline/error.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// What the dynamic loader says starts with the file that it could not load or use.
Error cannot_load(const std::string& path) {
  const char* text = ::dlerror();
  return {ErrorKind::kNoInput,
          fmt::format("what lookout was built with is missing or of another version: {}",
                      text == nullptr ? path : text)};
}

}  // namespace

fs::path module_path(const std::string& name) {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/lookout" / name;
}

void* load_module(const std::string& name, const std::string& entry) {
  const std::string path = module_path(name).string();
  if (!fs::exists(path)) {
    throw Error(ErrorKind::kNoInput, fmt::format("lookout was built without {}", path));
  }
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw cannot_load(path);
  void* function = ::dlsym(module, entry.c_str());
  if (function == nullptr) throw cannot_load(path);
  return function;
}

}  // namespace lookout
