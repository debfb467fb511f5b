// A folder for tests that write much.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tests/support/temp_dir.h"

namespace lookout {

// A folder in memory, where there is one: what a killed process has written does not depend on the
// disk, but how long the test waits for it does.
class MemoryDir {
 public:
  MemoryDir() {
    const bool has_memory = access("/dev/shm", W_OK | X_OK) == 0;
    std::string name = has_memory ? "/dev/shm/lookout-XXXXXX" : directory_ / "lookout-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~MemoryDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MemoryDir(const MemoryDir&) = delete;
  MemoryDir& operator=(const MemoryDir&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  const TempDir directory_;
  std::filesystem::path path_;
};

}  // namespace lookout
