#include "pipeline/torch/torch_device_plugin.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "pipeline/core/error.h"
#include "pipeline/core/module.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

void require_file(const DeviceOptions& options, const std::string& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return;
  const std::string way_out = options.plugin.empty()
                                  ? "; --device-plugin FILE names the library of the device"
                                  : " (--device-plugin)";
  throw Error(ErrorKind::kNoInput, "--device " + options.name + ": there is no " + path + way_out);
}

// A name without a slash is no file for dlopen().
void* open_plugin(const std::string& path) {
  void* library = open_library(fs::absolute(path).string());
  if (library == nullptr) {
    const char* why = ::dlerror();
    throw Error(ErrorKind::kBadData, path + " cannot be loaded as a device plug-in: " +
                                         first_line(why == nullptr ? "" : why));
  }
  return library;
}

const DevicePlugin& table_of(void* library, const std::string& path) {
  const auto entry = reinterpret_cast<const DevicePlugin* (*)()>(::dlsym(library, kDeviceEntry));
  if (entry == nullptr || entry() == nullptr) {
    throw Error(ErrorKind::kBadData, path + " is no device plug-in: it has no function " +
                                         kDeviceEntry + "() (see pipeline/torch/device_plugin.h)");
  }
  return *entry();
}

void check(const DevicePlugin& plugin, const DeviceOptions& options, const std::string& path) {
  if (plugin.interface != kDeviceInterface) {
    throw Error(ErrorKind::kNoInput, path + " has interface " + std::to_string(plugin.interface) +
                                         " for devices, this lookout has " +
                                         std::to_string(kDeviceInterface) +
                                         "; build it with this lookout's device_plugin.h");
  }
  if (std::strcmp(plugin.torch_version, TORCH_VERSION) != 0) {
    throw Error(ErrorKind::kNoInput, path + " was built for LibTorch " +
                                         printable(plugin.torch_version) + ", this is LibTorch " +
                                         TORCH_VERSION + "; build it again for this one");
  }
  if (options.name != plugin.name) {
    throw Error(ErrorKind::kUsage, "--device " + options.name + ": " + path +
                                       " is for another one: --device " + printable(plugin.name));
  }
}

}  // namespace

std::string device_plugin_path(const DeviceOptions& options) {
  if (!options.plugin.empty()) return options.plugin;
  return module_path("liblookout-" + options.name + ".so").string();
}

const DevicePlugin& load_device_plugin(const DeviceOptions& options) {
  const std::string path = device_plugin_path(options);
  require_file(options, path);
  const DevicePlugin& plugin = table_of(open_plugin(path), path);
  check(plugin, options, path);
  return plugin;
}

}  // namespace lookout
