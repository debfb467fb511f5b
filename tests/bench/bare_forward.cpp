// The smallest program that classifies with LibTorch: it loads an archive, freezes it
// and runs it, on one thread, with the same input again and again. What lookout takes above
// its time and memory is lookout's own. (But lookout quantizes and flips the input of a quantized
// model while it preprocesses, which is part of the forward here.)
//
//   bare_forward ARCHIVE RUNS [SIZE]    see bare_runs.h
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <iostream>

#include "tests/bench/bare_runs.h"

int main(int argc, char** argv) {
  const auto arguments = lookout::bare_arguments(argc, argv);
  try {
    at::set_num_threads(1);
    at::globalContext().setQEngine(at::QEngine::QNNPACK);
    auto module = torch::jit::freeze([&] {
      auto loaded = torch::jit::load(arguments.model);
      loaded.eval();
      return loaded;
    }());
    const c10::InferenceMode inference;
    const auto input = at::zeros({1, 3, arguments.size, arguments.size})
                           .contiguous(at::MemoryFormat::ChannelsLast);
    lookout::measure_runs(arguments.runs, [&] { module.forward({input}); });
    return 0;
  } catch (const c10::Error& error) {
    std::cerr << "bare_forward: " << error.what_without_backtrace() << '\n';
    return 65;
  }
}
