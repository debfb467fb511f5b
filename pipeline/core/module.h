// Modules: parts of lookout in separate files. The program starts without the libraries that they
// need.
#pragma once

#include <filesystem>
#include <string>

namespace lookout {

// The path of the module `name`: in ../lib/lookout relative to the program, installed or not, and
// beside a program that lies there itself.
std::filesystem::path module_path(const std::string& name);

// What the program and a module agree on. Both are of one build: these two members, which stay
// where they are, show when they are not.
struct ModuleVersion {
  int interface;        // changes with the module's header
  const char* release;  // of lookout
};

// Loads the library at `path`, which has a slash. Null, and a message for dlerror(3), when it
// cannot be loaded. It changes nothing of what signals do.
void* open_library(const std::string& path);

// Loads the module `name`, which stays loaded, and returns its function `entry`. The module and its
// libraries change nothing of what signals do. Throws Error(kUnsupported) when it was not built, or
// when a library that it needs is missing or has another version.
void* load_module(const std::string& name, const std::string& entry);

// Throws Error(kUnsupported) when the module `name` has another interface or is of another release.
void check_version(const std::string& name, const ModuleVersion& version, int interface);

// Loads the module and returns its table of functions, which begins with a ModuleVersion `version`.
// Throws as the two above.
template <typename Module>
const Module& load_module(const std::string& name, const std::string& entry, int interface) {
  const auto get_module = reinterpret_cast<const Module* (*)()>(load_module(name, entry));
  const Module& module = *get_module();
  check_version(name, module.version, interface);
  return module;
}

}  // namespace lookout
