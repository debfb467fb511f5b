// What the smallest programs that classify have in common: they run a model again and again with
// the same input, and print {"fps":...,"ms":{"p50":...,"p99":...},"rss_kb":...}: rate and time of
// the runs after three to warm up, and the resident memory.
#pragma once

#include <functional>
#include <string>

namespace lookout {

// Its arguments: MODEL RUNS [SIZE]. RUNS: a number, or a time in seconds: 100, 5s. SIZE: of the
// input, by default 224 for 224x224.
struct BareArguments {
  const char* model = nullptr;
  std::string runs;
  int size = 224;
};

// Prints the usage and exits with 64 when the arguments are wrong.
BareArguments bare_arguments(int argc, char** argv);

void measure_runs(const std::string& runs, const std::function<void()>& run);

}  // namespace lookout
