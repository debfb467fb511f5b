#include "tests/bench/bare_runs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <vector>

namespace lookout {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kWarmUpRuns = 3;  // LibTorch's profiling executor specialises in its first two

std::string resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:" && status >> word) return word;
  }
  return "0";
}

}  // namespace

BareArguments bare_arguments(int argc, char** argv) {
  BareArguments arguments;
  if (argc == 3 || argc == 4) {
    arguments.model = argv[1];
    arguments.runs = argv[2];
    if (argc == 4) arguments.size = std::atoi(argv[3]);
  }
  if (std::atof(arguments.runs.c_str()) > 0 && arguments.size > 0) return arguments;
  std::cerr << "usage: " << argv[0] << " MODEL RUNS [SIZE]; RUNS as in 100 or 5s\n";
  std::exit(64);
}

void measure_runs(const std::string& runs, const std::function<void()>& run) {
  const double amount = std::atof(runs.c_str());
  const bool timed = runs.back() == 's';
  for (int i = 0; i < kWarmUpRuns; ++i) run();
  std::vector<double> times;
  times.reserve(1 << 16U);
  const auto start = Clock::now();
  auto now = start;
  while (timed ? Milliseconds(now - start).count() < amount * 1000
               : static_cast<double>(times.size()) < amount) {
    const auto before = now;
    run();
    now = Clock::now();
    times.push_back(Milliseconds(now - before).count());
  }
  const double seconds = Milliseconds(now - start).count() / 1000;
  std::sort(times.begin(), times.end());
  const auto rank = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::cout << R"({"fps":)" << static_cast<double>(times.size()) / seconds << R"(,"ms":{"p50":)"
            << rank(0.5) << R"(,"p99":)" << rank(0.99) << R"(},"rss_kb":)" << resident_kb()
            << "}\n";
}

}  // namespace lookout
