// How many processors do other programs leave to us?
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace lookout {

// Counts from when it is made.
class FreeProcessors {
 public:
  // `root`: the folder that holds proc. `own_seconds`: of processor time that this process has used
  // so far; of all processors together.
  explicit FreeProcessors(std::filesystem::path root = "/",
                          std::function<double()> own_seconds = used_by_this_process);

  // The processors that were idle, or ours, since the last call, on average: from /proc/stat. 0
  // when it cannot be read.
  double operator()();

  static double used_by_this_process();

 private:
  struct Times {  // in seconds, of all processors together
    double idle = 0;
    double all = 0;
    double own = 0;
    int processors = 0;
  };
  Times read() const;

  std::filesystem::path root_;
  std::function<double()> own_seconds_;
  Times before_;
};

}  // namespace lookout
