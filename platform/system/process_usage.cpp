#include "platform/system/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "platform/system/parse_number.h"

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

double seconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

double cpu_seconds() {
  rusage resources{};
  getrusage(RUSAGE_SELF, &resources);
  return seconds(resources.ru_utime) + seconds(resources.ru_stime);
}

ProcessUsage process_usage() {
  ProcessUsage usage;
  usage.age = to_duration(seconds_since_boot() - started_seconds_after_boot());
  usage.cpu = to_duration(cpu_seconds());
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;  // the second one
  usage.resident_bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return usage;
}

}  // namespace lookout
