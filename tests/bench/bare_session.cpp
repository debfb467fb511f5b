// The smallest program that classifies with ONNX Runtime, as bare_forward does with LibTorch: one
// thread, the same input again and again, by the settings that lookout has.
//
//   bare_session MODEL RUNS [SIZE]    see bare_runs.h
#include <onnxruntime_cxx_api.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <vector>

#include "tests/bench/bare_runs.h"

int main(int argc, char** argv) {
  const auto arguments = lookout::bare_arguments(argc, argv);
  try {
    const Ort::Env env(ORT_LOGGING_LEVEL_ERROR);
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(1);
    options.SetInterOpNumThreads(1);
    options.AddConfigEntry("session.x64quantprecision", "1");
    Ort::Session session(env, arguments.model, options);
    const Ort::AllocatorWithDefaultOptions allocator;
    const auto input_name = session.GetInputNameAllocated(0, allocator);
    const auto output_name = session.GetOutputNameAllocated(0, allocator);
    const std::array<const char*, 1> inputs{input_name.get()};
    const std::array<const char*, 1> outputs{output_name.get()};
    const std::array<std::int64_t, 4> shape{1, 3, arguments.size, arguments.size};
    std::vector<float> values(static_cast<std::size_t>(3 * arguments.size * arguments.size));
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    const Ort::Value input = Ort::Value::CreateTensor<float>(memory, values.data(), values.size(),
                                                             shape.data(), shape.size());
    lookout::measure_runs(arguments.runs, [&] {
      session.Run(Ort::RunOptions{nullptr}, inputs.data(), &input, 1, outputs.data(), 1);
    });
    return 0;
  } catch (const Ort::Exception& error) {
    std::cerr << "bare_session: " << error.what() << '\n';
    return 65;
  }
}
