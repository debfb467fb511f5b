// The smallest program that classifies with LibTorch: it loads an archive, freezes it
// and runs it, on one thread, with the same input again and again. What lookout takes above
// its time and memory is lookout's own. (But lookout quantizes the input of a quantized model while
// it preprocesses, which is part of the forward here.)
//
//   bare_forward ARCHIVE RUNS [SIZE]    RUNS: a number, or a time in seconds: 100, 5s
//                                       SIZE: of the input, by default 224 for 224x224
//
// Then prints {"fps":...,"ms":{"p50":...,"p99":...},"rss_kb":...}: rate and time of the runs after
// three to warm up, and the resident memory.
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kWarmUpRuns = 3;  // the profiling executor specialises in its first two

std::string resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:" && status >> word) return word;
  }
  return "0";
}

int run(const char* archive, const std::string& runs, int size) {
  const double amount = std::atof(runs.c_str());
  const bool timed = runs.back() == 's';
  if (amount <= 0) {
    std::cerr << "bare_forward: RUNS is a number or a time, as in 100 or 5s, not " << runs << '\n';
    return 64;
  }
  at::set_num_threads(1);
  at::globalContext().setQEngine(at::QEngine::QNNPACK);
  auto module = torch::jit::freeze([&] {
    auto loaded = torch::jit::load(archive);
    loaded.eval();
    return loaded;
  }());
  const c10::InferenceMode inference;
  const auto input = at::zeros({1, 3, size, size}).contiguous(at::MemoryFormat::ChannelsLast);
  for (int i = 0; i < kWarmUpRuns; ++i) module.forward({input});

  std::vector<double> times;
  times.reserve(1 << 16U);
  const auto start = Clock::now();
  auto now = start;
  while (timed ? Milliseconds(now - start).count() < amount * 1000
               : static_cast<double>(times.size()) < amount) {
    const auto before = now;
    module.forward({input});
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
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || *argv[2] == '\0') {
    std::cerr << "usage: bare_forward ARCHIVE RUNS [SIZE]\n";
    return 64;
  }
  try {
    return run(argv[1], argv[2], argc == 4 ? std::atoi(argv[3]) : 224);
  } catch (const c10::Error& error) {
    std::cerr << "bare_forward: " << error.what_without_backtrace() << '\n';
    return 65;
  }
}
