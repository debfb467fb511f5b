// The least that a program which classifies with LibTorch can take: it loads an archive, freezes it
// and runs it.
//
//   load_archive ARCHIVE RUNS    with one thread; then prints its resident memory, in kB
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: load_archive ARCHIVE RUNS\n";
    return 64;
  }
  at::set_num_threads(1);
  at::globalContext().setQEngine(at::QEngine::QNNPACK);
  auto module = torch::jit::freeze([&] {
    auto loaded = torch::jit::load(argv[1]);
    loaded.eval();
    return loaded;
  }());
  const c10::InferenceMode inference;
  const auto input = at::zeros({1, 3, 224, 224}).contiguous(at::MemoryFormat::ChannelsLast);
  for (int run = std::atoi(argv[2]); run > 0; --run) module.forward({input});
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:" && status >> word) std::cout << word << '\n';
  }
}
