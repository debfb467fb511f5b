#include "platform/cameras/libcamera_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/module.h"
#include "platform/cameras/libcamera_source.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

const char* const kBuiltHere = "built";
const char* const kBuild = "build";  // the package's program that makes it
const char* const kLibrary = "libcamera.so.";

// The libcameras that a shared library was linked with.
std::vector<std::string> linked_versions(const fs::path& library) {
  std::ifstream file(library, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> names;
  for (std::size_t at = bytes.find(kLibrary); at != std::string::npos;
       at = bytes.find(kLibrary, at + 1)) {
    names.emplace_back(bytes.c_str() + at);
  }
  return libcamera_versions(names);
}

struct Module {
  std::string name;  // of the file, without .so
  bool has_ipa;      // IPA modules of its libcamera are installed
};

// In the order to try them.
std::vector<Module> modules_in(const fs::path& folder, const std::vector<std::string>& ipa) {
  std::vector<Module> modules;
  for (const fs::path& path : paths_in(folder)) {
    if (path.extension() != ".so") continue;
    const auto linked = linked_versions(path);
    modules.push_back({path.stem(), std::find_first_of(linked.begin(), linked.end(), ipa.begin(),
                                                       ipa.end()) != linked.end()});
  }
  std::sort(modules.begin(), modules.end(), [](const Module& a, const Module& b) {
    if (a.has_ipa != b.has_ipa) return a.has_ipa;
    if ((a.name == kBuiltHere) != (b.name == kBuiltHere)) return a.name == kBuiltHere;
    return ::strverscmp(a.name.c_str(), b.name.c_str()) > 0;
  });
  return modules;
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
std::string why_not(const fs::path& folder, const std::vector<Module>& modules,
                    const std::map<std::string, std::string>& reasons) {
  std::vector<std::string> versions;
  for (const Module& module : modules) {
    if (module.name != kBuiltHere) versions.push_back(module.name);
  }
  if (versions.empty()) return "lookout was built without libcamera";
  const auto installed = installed_versions();
  for (const std::string& version : installed) {
    const auto reason = reasons.find(version);
    if (reason == reasons.end()) continue;
    return fmt::format("libcamera {} is installed, but {}", version, reason->second);
  }
  if (installed.empty()) {
    return fmt::format("libcamera is not installed (lookout has modules for {})",
                       joined(versions, ", "));
  }
  std::error_code ignored;
  return fmt::format("libcamera {} is installed, lookout has modules for {}{}",
                     joined(installed, " and "), joined(versions, ", "),
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
  log_debug("{}", reason);
  return nullptr;
}

const LookoutLibcamera& libcamera() {
  static const LookoutLibcamera& module =
      load_libcamera_module(module_path("libcamera"), ipa_versions("/"));
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

std::vector<std::string> ipa_versions(const fs::path& root) {
  std::set<std::string> versions;
  for (const fs::path& libraries : paths_in(root / "usr/lib")) {
    for (const char* folder : {"libcamera", "libcamera/ipa"}) {
      for (const fs::path& file : paths_in(libraries / folder)) {
        if (file.filename().string().rfind("ipa_", 0) != 0 || file.extension() != ".so") continue;
        const auto linked = linked_versions(file);
        versions.insert(linked.begin(), linked.end());
      }
    }
  }
  return {versions.begin(), versions.end()};
}

const LookoutLibcamera& load_libcamera_module(const fs::path& folder,
                                              const std::vector<std::string>& ipa) {
  const auto modules = modules_in(folder, ipa);
  std::map<std::string, std::string> reasons;
  for (const auto& [name, has_ipa] : modules) {
    const LookoutLibcamera* module =
        try_module(fs::absolute(folder / (name + ".so")), reasons[name]);
    if (module == nullptr) continue;
    log_debug("module for libcamera {}, which is {}", name, module->version());
    return *module;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("CSI cameras cannot be used: {}; V4L2 cameras and files can be used",
                          why_not(folder, modules, reasons)));
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
