// The machine, as /proc and /sys describe it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/results/machine_state.h"

namespace lookout {

// What could not be read is empty.
struct SystemInfo {
  std::string board;                      // "Raspberry Pi 4 Model B Rev 1.5"
  std::string cpu;                        // "Cortex-A72", "Intel(R) Xeon(R)"
  std::vector<std::string> cpu_features;  // as the kernel names them: "asimd", "avx2"
  bool arm = false;
  std::string system;                         // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;                         // its release
  std::optional<std::uint64_t> memory_kb;     // all of it
  std::optional<std::uint64_t> cma_total_kb;  // memory for contiguous buffers, of cameras
  std::optional<std::uint64_t> cma_free_kb;
  MachineState state;                       // now
  std::optional<double> highest_clock_mhz;  // the highest it may have
  std::string governor;
  bool systemd = false;  // it runs the machine

  bool has_feature(const std::string& name) const;
};

// `root`: the folder that holds proc, sys, run and etc.
SystemInfo read_system_info(const std::filesystem::path& root = "/");

// The part of it that changes, in a few small files: the temperature of the first zone, the clock
// of the first processor.
MachineState read_machine_state(const std::filesystem::path& root = "/");

// What figures taken on it are worth: "real machine", "virtual machine", or "emulated machine".
// `built_for_arm`: what this program is made for, since under qemu-user the kernel describes the
// machine that emulates.
std::string machine_kind(const SystemInfo& info, bool built_for_arm);

#ifdef __aarch64__
inline constexpr bool kBuiltForArm = true;
#else
inline constexpr bool kBuiltForArm = false;
#endif

// Number of processors, at least 1.
int processors();

}  // namespace lookout
