#include "platform/system/free_processors.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace lookout {

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
