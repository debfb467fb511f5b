// Facts about the machine from /proc and /sys, and which one it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/results/machine_state.h"

namespace lookout {

// Empty: not reported by this machine.
struct SystemInfo {
  std::string board;                      // "Raspberry Pi 4 Model B Rev 1.5"
  std::string cpu;                        // "Cortex-A72", "Intel(R) Xeon(R)"
  std::vector<std::string> cpu_features;  // the kernel's names: "asimd", "avx2"
  bool arm = false;
  std::string system;                         // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;                         // release
  std::optional<std::uint64_t> memory_kb;     // total
  std::optional<std::uint64_t> cma_total_kb;  // contiguous memory, for cameras' buffers
  std::optional<std::uint64_t> cma_free_kb;
  MachineState state;                       // now
  std::optional<double> highest_clock_mhz;  // the limit that is set
  std::string governor;
  bool systemd = false;  // systemd is the init process

  bool has_feature(const std::string& name) const;
};

// `root`: the folder that holds proc, sys, run and etc.
SystemInfo read_system_info(const std::filesystem::path& root = "/");

// The values that change: the temperature of the first zone, the clock of the first processor and
// the firmware's throttling bits. These are in get_throttled, which Raspberry Pi's kernel had up to
// 6.12 (raspberrypi/linux#6697). Without that file, the sensor rpi_volt tells under-voltage: its
// alarm is on while there was some within about the last two seconds (Linux,
// drivers/hwmon/raspberrypi-hwmon.c). Reads a few small files.
MachineState read_machine_state(const std::filesystem::path& root = "/");

// "real machine", "virtual machine" or "emulated machine", for figures that were measured on it.
// `built_for_arm`: this program's target, since under qemu-user the kernel describes the emulating
// machine.
std::string machine_kind(const SystemInfo& info, bool built_for_arm);

#ifdef __aarch64__
inline constexpr bool kBuiltForArm = true;
#else
inline constexpr bool kBuiltForArm = false;
#endif

// Number of processors, at least 1.
int processors();

// 12 hexadecimal digits that stay the same on this machine and tell nothing about it: made of
// /etc/machine-id for lookout alone, or, where there is none, of the host's name.
std::string machine_id();

// The host's name, with its domain where it has one; empty when it has none.
std::string full_host_name();

// The same without its domain.
std::string host_name();

}  // namespace lookout
