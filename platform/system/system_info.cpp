#include "platform/system/system_info.h"

#include <systemd/sd-id128.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "pipeline/core/sha256.h"
#include "pipeline/core/text.h"
#include "platform/system/parse_number.h"
#include "platform/system/paths_in.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

// The line without its newline and zero bytes. Empty when it cannot be read.
std::string line_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && (line.back() == '\0' || line.back() == '\r')) line.pop_back();
  return line;
}

// A file's number, divided by 1000.
std::optional<double> thousandths(const fs::path& path) {
  const auto number = parse_leading_number<long>(line_in(path));
  if (!number) return std::nullopt;
  return static_cast<double>(*number) / 1000;
}

// The first value of each key of lines `key : value`.
std::map<std::string, std::string> read_keys(const fs::path& path) {
  std::map<std::string, std::string> keys;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    keys.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  }
  return keys;
}

// The value of a line KEY="value"; see os-release(5).
std::string quoted_value(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key + "=", 0) != 0) continue;
    line.erase(0, key.size() + 1);
    line.erase(std::remove(line.begin(), line.end(), '"'), line.end());
    return line;
  }
  return {};
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string name_of_arm_part(const std::string& part) {
  static const std::map<std::string, std::string> names{{"0xd03", "Cortex-A53"},
                                                        {"0xd07", "Cortex-A57"},
                                                        {"0xd08", "Cortex-A72"},
                                                        {"0xd0b", "Cortex-A76"}};
  const auto found = names.find(part);
  return found == names.end() ? "ARM part " + part : found->second;
}

void read_cpu(const fs::path& root, SystemInfo& info) {
  auto keys = read_keys(root / "proc/cpuinfo");
  info.arm = keys.count("CPU part") != 0;
  info.cpu = info.arm ? name_of_arm_part(keys["CPU part"]) : keys["model name"];
  info.cpu_features = words(info.arm ? keys["Features"] : keys["flags"]);
}

// The alarm of the sensor of Raspberry Pi's supply voltage; nothing without one.
std::optional<std::uint32_t> voltage_alarm(const fs::path& root) {
  for (const fs::path& sensor : paths_in(root / "sys/class/hwmon")) {
    if (line_in(sensor / "name") != "rpi_volt") continue;
    return parse_leading_number<std::uint32_t>(line_in(sensor / "in0_lcrit_alarm"));
  }
  return std::nullopt;
}

constexpr std::size_t kDigits = 12;

// The id of lookout: any number that nothing else has.
constexpr sd_id128_t kApplication{{0x8d, 0x1b, 0x6f, 0x0e, 0x5c, 0x2a, 0x4f, 0x37, 0x9e, 0x44, 0x71,
                                   0xd0, 0x3a, 0xb9, 0xc6, 0x52}};

}  // namespace

bool SystemInfo::has_feature(const std::string& name) const {
  return std::find(cpu_features.begin(), cpu_features.end(), name) != cpu_features.end();
}

MachineState read_machine_state(const fs::path& root) {
  MachineState state;
  state.temperature = thousandths(root / "sys/class/thermal/thermal_zone0/temp");
  state.clock_mhz = thousandths(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
  state.throttled = parse_leading_number<std::uint32_t>(
      line_in(root / "sys/devices/platform/soc/soc:firmware/get_throttled"), 16);
  if (!state.throttled) {
    state.throttled = voltage_alarm(root);
    state.voltage_alone = state.throttled.has_value();
  }
  return state;
}

SystemInfo read_system_info(const fs::path& root) {
  SystemInfo info;
  read_cpu(root, info);
  info.board = line_in(root / "proc/device-tree/model");
  info.system = quoted_value(root / "etc/os-release", "PRETTY_NAME");
  info.kernel = line_in(root / "proc/sys/kernel/osrelease");
  auto memory = read_keys(root / "proc/meminfo");
  info.memory_kb = parse_leading_number<std::uint64_t>(memory["MemTotal"]);
  info.cma_total_kb = parse_leading_number<std::uint64_t>(memory["CmaTotal"]);
  info.cma_free_kb = parse_leading_number<std::uint64_t>(memory["CmaFree"]);
  info.state = read_machine_state(root);
  const fs::path clock = root / "sys/devices/system/cpu/cpu0/cpufreq";
  info.highest_clock_mhz = thousandths(clock / "scaling_max_freq");
  info.governor = line_in(clock / "scaling_governor");
  std::error_code error;
  info.systemd = fs::is_directory(root / "run/systemd/system", error);
  return info;
}

std::string machine_kind(const SystemInfo& info, bool built_for_arm) {
  if (info.arm != built_for_arm) return "emulated machine";
  // Arm's kernel does not report a hypervisor. Virtual machines have no board, or one of that name.
  if (info.arm && (info.board.empty() || info.board.find("dummy-virt") != std::string::npos)) {
    return "virtual or emulated machine";
  }
  return info.has_feature("hypervisor") ? "virtual machine" : "real machine";
}

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

std::string machine_id() {
  sd_id128_t id{};
  if (sd_id128_get_machine_app_specific(kApplication, &id) >= 0) {
    std::array<char, SD_ID128_STRING_MAX> text{};
    return std::string(sd_id128_to_string(id, text.data())).substr(0, kDigits);
  }
  return sha256(full_host_name()).substr(0, kDigits);
}

std::string full_host_name() {
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  return host.data();
}

std::string host_name() {
  const std::string name = full_host_name();
  return name.substr(0, name.find('.'));
}

}  // namespace lookout
