#include "platform/module.h"

namespace lookout {

namespace fs = std::filesystem;

fs::path module_path(const std::string& name) {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/lookout" / name;
}

}  // namespace lookout
