// Time and memory that this process has used so far, and the processors that others leave free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "pipeline/core/frame.h"

namespace lookout {

struct ProcessUsage {
  Clock::duration age{};  // since its start, before its libraries were loaded; precise to 10 ms
  Clock::duration cpu{};  // all threads together
  // How often a thread gave up its processor to wait; each time it has to be woken.
  std::uint64_t voluntary_switches = 0;
  std::uint64_t resident_bytes = 0;  // libraries included
};

ProcessUsage process_usage();

// ProcessUsage::cpu alone, in seconds.
double cpu_seconds();

// Counts the processors that other programs leave free, from its construction on.
class FreeProcessors {
 public:
  // `root` is the folder that holds proc. `own_seconds` returns the processor time that this
  // process has used so far, on all processors together.
  explicit FreeProcessors(std::filesystem::path root = "/",
                          std::function<double()> own_seconds = cpu_seconds);

  // Returns how many processors were idle or used by this process since the last call, on average,
  // from /proc/stat. 0 when that cannot be read.
  double operator()();

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
