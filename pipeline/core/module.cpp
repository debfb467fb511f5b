#include "pipeline/core/module.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <system_error>

#include "pipeline/core/error.h"

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

// Restores what signals do. A library may take some when it is loaded: UCX, which Debian 13's
// LibTorch brings, takes SIGHUP.
class SignalsKept {
 public:
  SignalsKept() {
    for (std::size_t i = 1; i < actions_.size(); ++i) {
      ::sigaction(static_cast<int>(i), nullptr, &actions_[i]);
    }
  }
  ~SignalsKept() {
    for (std::size_t i = 1; i < actions_.size(); ++i) {
      ::sigaction(static_cast<int>(i), &actions_[i], nullptr);
    }
  }
  SignalsKept(const SignalsKept&) = delete;
  SignalsKept& operator=(const SignalsKept&) = delete;

 private:
  std::array<struct sigaction, SIGSYS + 1> actions_{};  // the standard ones
};

}  // namespace

fs::path module_path(const std::string& name) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const bool is_part = folder.filename() == "lookout" && folder.parent_path().filename() == "lib";
  return (is_part ? folder : folder.parent_path() / "lib/lookout") / name;
}

void* open_library(const std::string& path) {
  const SignalsKept signals;
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void* load_module(const std::string& name, const std::string& entry) {
  const std::string path = module_path(name).string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw Error(ErrorKind::kUnsupported, fmt::format("lookout was built without {}", path));
  }
  void* module = open_library(path);
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
