#include "platform/system/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "platform/system/parse_number.h"
#include "platform/system/since_boot.h"

namespace lookout {
namespace {

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// From /proc/self/stat; see proc(5).
double started_seconds_after_boot() {
  constexpr int kStartTime = 22;
  std::ifstream file("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field, the program's name, may hold blanks and brackets.
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= kStartTime; ++number) rest >> field;
  return parse_number<double>(field).value_or(0) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double seconds_used(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Of all threads, also those that have ended.
rusage read_resources() {
  rusage resources{};
  getrusage(RUSAGE_SELF, &resources);
  return resources;
}

double cpu_seconds(const rusage& resources) {
  return seconds_used(resources.ru_utime) + seconds_used(resources.ru_stime);
}

}  // namespace

double cpu_seconds() { return cpu_seconds(read_resources()); }

ProcessUsage process_usage() {
  ProcessUsage usage;
  usage.age = since_boot() - to_duration(started_seconds_after_boot());
  const rusage resources = read_resources();
  usage.cpu = to_duration(cpu_seconds(resources));
  usage.voluntary_switches = static_cast<std::uint64_t>(resources.ru_nvcsw);
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;  // the second one
  usage.resident_bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return usage;
}

FreeProcessors::FreeProcessors(std::filesystem::path root, std::function<double()> own_seconds)
    : root_(std::move(root)), own_seconds_(std::move(own_seconds)), before_(read()) {}

// proc(5): "cpu user nice system idle iowait irq ...", then the same for cpu0, cpu1, ...
FreeProcessors::Times FreeProcessors::read() const {
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  Times times;
  times.own = own_seconds_();
  std::ifstream file(root_ / "proc/stat");
  for (std::string line; std::getline(file, line) && line.compare(0, 3, "cpu") == 0;) {
    if (line[3] != ' ') {
      ++times.processors;
      continue;
    }
    std::istringstream fields(line.substr(4));
    double ticks = 0;
    for (int field = 0; field < 8 && fields >> ticks; ++field) {
      times.all += ticks / ticks_per_second;
      if (field == 3 || field == 4) times.idle += ticks / ticks_per_second;
    }
  }
  return times;
}

double FreeProcessors::operator()() {
  const Times now = read();
  const Times before = std::exchange(before_, now);
  if (now.processors == 0 || now.all <= before.all) return 0;
  const double free = (now.idle - before.idle) + (now.own - before.own);
  return std::clamp(free / (now.all - before.all), 0.0, 1.0) * now.processors;
}

}  // namespace lookout
