#include "platform/system/system_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace lookout {
namespace {

// A machine in a folder.
class SystemInfoTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((root_.path() / path).parent_path());
    root_.write(path, content);
  }

  TempDir root_;
};

TEST_F(SystemInfoTest, ARaspberryPi4) {
  put("proc/cpuinfo",
      "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
      "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd08\n\n"
      "processor\t: 1\nCPU part\t: 0xd08\n");
  put("proc/device-tree/model", std::string("Raspberry Pi 4 Model B Rev 1.5\0", 31));
  put("proc/meminfo",
      "MemTotal:        3884360 kB\nCmaTotal:         524288 kB\n"
      "CmaFree:          507904 kB\n");
  put("sys/class/thermal/thermal_zone0/temp", "48686\n");
  const std::string clock = "sys/devices/system/cpu/cpu0/cpufreq/";
  put(clock + "scaling_cur_freq", "600000\n");
  put(clock + "scaling_max_freq", "1500000\n");
  put(clock + "scaling_governor", "ondemand\n");
  put("sys/devices/platform/soc/soc:firmware/get_throttled", "50005\n");
  put("run/systemd/system/x", "");
  put("etc/os-release",
      "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
  put("proc/sys/kernel/osrelease", "6.6.51+rpt-rpi-v8\n");
  const SystemInfo info = read_system_info(root_.path());
  EXPECT_EQ(info.system, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(info.kernel, "6.6.51+rpt-rpi-v8");
  EXPECT_EQ(info.memory_kb, 3884360U);
  EXPECT_EQ(machine_kind(info, /*built_for_arm=*/true), "real machine");
  EXPECT_TRUE(info.arm);
  EXPECT_EQ(info.cpu, "Cortex-A72");
  EXPECT_TRUE(info.has_feature("crc32"));
  EXPECT_FALSE(info.has_feature("atomics"));
  EXPECT_FALSE(info.has_feature("crc"));
  EXPECT_EQ(info.board, "Raspberry Pi 4 Model B Rev 1.5");
  EXPECT_EQ(info.cma_total_kb, 524288U);
  EXPECT_EQ(info.cma_free_kb, 507904U);
  EXPECT_DOUBLE_EQ(info.state.temperature.value_or(0), 48.686);
  EXPECT_DOUBLE_EQ(info.state.clock_mhz.value_or(0), 600);
  EXPECT_DOUBLE_EQ(info.highest_clock_mhz.value_or(0), 1500);
  EXPECT_EQ(info.governor, "ondemand");
  EXPECT_EQ(info.state.throttled, 0x50005U);
  EXPECT_FALSE(info.state.voltage_alone);
  EXPECT_TRUE(info.systemd);
}

TEST_F(SystemInfoTest, WithoutTheFirmwaresBitsTheSensorOfTheVoltageTellsOne) {
  put("sys/class/hwmon/hwmon0/name", "cpu_thermal\n");
  put("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1\n");
  EXPECT_FALSE(read_machine_state(root_.path()).throttled);
  put("sys/class/hwmon/hwmon2/name", "rpi_volt\n");
  EXPECT_FALSE(read_machine_state(root_.path()).throttled) << "the alarm cannot be read";
  put("sys/class/hwmon/hwmon2/in0_lcrit_alarm", "1\n");
  const MachineState low = read_machine_state(root_.path());
  EXPECT_EQ(low.throttled, 1U);
  EXPECT_TRUE(low.voltage_alone);
  put("sys/class/hwmon/hwmon2/in0_lcrit_alarm", "0\n");
  EXPECT_EQ(read_machine_state(root_.path()).throttled, 0U);
  put("sys/devices/platform/soc/soc:firmware/get_throttled", "50000\n");
  const MachineState all = read_machine_state(root_.path());
  EXPECT_EQ(all.throttled, 0x50000U) << "which tells more";
  EXPECT_FALSE(all.voltage_alone);
}

TEST_F(SystemInfoTest, AnX86Pc) {
  put("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu sse2 avx2\n");
  const SystemInfo info = read_system_info(root_.path());
  EXPECT_FALSE(info.arm);
  EXPECT_EQ(info.cpu, "Some CPU @ 2.00GHz");
  EXPECT_TRUE(info.has_feature("avx2"));
}

TEST_F(SystemInfoTest, WhatIsAbsentOrNonsenseIsEmpty) {
  put("sys/class/thermal/thermal_zone0/temp", "hot\n");
  const SystemInfo info = read_system_info(root_.path());
  EXPECT_EQ(info.cpu, "");
  EXPECT_EQ(info.board, "");
  EXPECT_FALSE(info.cma_total_kb || info.state.temperature || info.state.clock_mhz ||
               info.state.throttled);
  EXPECT_FALSE(info.systemd);
}

TEST(MachineKind, WhatIsNoRealMachine) {
  SystemInfo pc;
  EXPECT_EQ(machine_kind(pc, /*built_for_arm=*/false), "real machine");
  EXPECT_EQ(machine_kind(pc, /*built_for_arm=*/true), "emulated machine") << "qemu-user";
  pc.cpu_features = {"sse2", "hypervisor"};
  EXPECT_EQ(machine_kind(pc, /*built_for_arm=*/false), "virtual machine");
  SystemInfo arm;
  arm.arm = true;
  EXPECT_EQ(machine_kind(arm, /*built_for_arm=*/true), "virtual or emulated machine");
  arm.board = "linux,dummy-virt";
  EXPECT_EQ(machine_kind(arm, /*built_for_arm=*/true), "virtual or emulated machine");
}

}  // namespace
}  // namespace lookout
