#include "platform/cameras/libcamera_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <system_error>

#include "pipeline/error.h"
#include "pipeline/module.h"
#include "platform/cameras/libcamera_source.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

const char* const kBuiltHere = "built";
const char* const kBuild = "build";  // the package's program that makes it
const char* const kLibrary = "libcamera.so.";

// The versions of the modules in `folder`, in the order to try them.
std::vector<std::string> modules_in(const fs::path& folder) {
  std::vector<std::string> versions;
  for (const fs::path& path : paths_in(folder)) {
    if (path.extension() == ".so") versions.push_back(path.stem().string());
  }
  std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
    if ((a == kBuiltHere) != (b == kBuiltHere)) return a == kBuiltHere;
    return ::strverscmp(a.c_str(), b.c_str()) > 0;
  });
  return versions;
}

// In the folders of Debian, of any architecture: one for 32 bit is no reason either.
std::vector<std::string> installed_versions() {
  std::vector<std::string> names;
  for (const char* root : {"/usr/lib", "/usr/local/lib"}) {
    std::vector<fs::path> folders = paths_in(root);
    folders.emplace_back(root);
    for (const fs::path& folder : folders) {
      for (const fs::path& path : paths_in(folder)) names.push_back(path.filename().string());
    }
  }
  return libcamera_versions(names);
}

// `reasons`: by the version of a module.
std::string why_not(const fs::path& folder, std::vector<std::string> modules,
                    const std::map<std::string, std::string>& reasons) {
  modules.erase(std::remove(modules.begin(), modules.end(), kBuiltHere), modules.end());
  if (modules.empty()) return "lookout was built without libcamera";
  const auto installed = installed_versions();
  for (const std::string& version : installed) {
    const auto reason = reasons.find(version);
    if (reason == reasons.end()) continue;
    return fmt::format("libcamera {} is installed, but {}", version, reason->second);
  }
  if (installed.empty()) {
    return fmt::format("libcamera is not installed (lookout has modules for {})",
                       fmt::join(modules, ", "));
  }
  std::error_code ignored;
  return fmt::format("libcamera {} is installed, lookout has modules for {}{}",
                     fmt::join(installed, " and "), fmt::join(modules, ", "),
                     fs::exists(folder / kBuild, ignored)
                         ? ": sudo apt install libcamera-dev g++ pkg-config makes one"
                         : "");
}

// Null, and the reason why not.
const LookoutLibcamera* try_module(const std::string& path, std::string& reason) {
  try {
    const auto entry =
        reinterpret_cast<const LookoutLibcamera* (*)()>(load_module(path, "lookout_libcamera"));
    const LookoutLibcamera* module = entry();
    if (module->interface == LOOKOUT_LIBCAMERA_INTERFACE) return module;
    reason = path + " is of another version of lookout";
  } catch (const Error& error) {
    reason = error.what();
  }
  spdlog::debug("{}", reason);
  return nullptr;
}

const LookoutLibcamera& libcamera() {
  static const LookoutLibcamera& module = load_libcamera_module(module_path("libcamera"));
  return module;
}

}  // namespace

std::vector<std::string> libcamera_versions(const std::vector<std::string>& file_names) {
  std::set<std::string> versions;
  for (const std::string& name : file_names) {
    if (name.rfind(kLibrary, 0) != 0) continue;
    const std::string version = name.substr(std::strlen(kLibrary));
    // Until 0.1 every release had an interface of its own.
    const std::size_t parts = version.rfind("0.0.", 0) == 0 ? 3 : 2;
    std::size_t end = 0;
    for (std::size_t i = 0; i < parts && end != std::string::npos; ++i) {
      end = version.find('.', end == 0 ? 0 : end + 1);
    }
    versions.insert(version.substr(0, end));
  }
  return {versions.begin(), versions.end()};
}

const LookoutLibcamera& load_libcamera_module(const fs::path& folder) {
  const auto versions = modules_in(folder);
  std::map<std::string, std::string> reasons;
  for (const std::string& version : versions) {
    const LookoutLibcamera* module =
        try_module(fs::absolute(folder / (version + ".so")), reasons[version]);
    if (module == nullptr) continue;
    spdlog::debug("module for libcamera {}, which is {}", version, module->version());
    return *module;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("CSI cameras cannot be used: {}; V4L2 cameras and files can be used",
                          why_not(folder, versions, reasons)));
}

LoadedLibcamera load_libcamera() {
  const LookoutLibcamera& module = libcamera();
  LoadedLibcamera loaded;
  loaded.version = module.version();
  const auto sonames = libcamera_versions({kLibrary + loaded.version.substr(1)});
  loaded.soname = sonames.front();
  Dl_info place{};
  ::dladdr(reinterpret_cast<const void*>(module.version), &place);
  loaded.module = fs::path(place.dli_fname).filename();
  return loaded;
}

std::vector<LibcameraCamera> list_csi_cameras() { return list_libcamera_cameras(libcamera()); }

std::map<std::string, SensorModes> list_csi_modes(const ModeWish& wish) {
  return list_sensor_modes(libcamera(), wish);
}

std::unique_ptr<Source> open_csi_camera(const std::string& camera, const SourceOptions& options) {
  return std::make_unique<LibcameraSource>(libcamera(), camera, options);
}

}  // namespace lookout
