// How much memory something takes at a time.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace lookout {

// Of the process, from its construction on.
class MemoryPeak {
 public:
  MemoryPeak() {
    std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM
    before_ = status("VmRSS:");
  }

  // Bytes beyond what there was, at the most.
  std::int64_t growth() const { return status("VmHWM:") - before_; }

 private:
  static std::int64_t status(const std::string& field) {
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;) {
      std::int64_t kilobytes = 0;
      if (word == field && file >> kilobytes) return kilobytes * 1024;
    }
    return 0;
  }

  std::int64_t before_ = 0;
};

}  // namespace lookout
