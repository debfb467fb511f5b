// Compares the engine with PyTorch. tests/models/ exports networks into folders, beside PyTorch's
// outputs for some inputs, and runs this with LOOKOUT_PARITY=FOLDER.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/onnx/onnx_session.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

std::vector<float> read_floats(const fs::path& path) {
  std::vector<float> values(fs::file_size(path) / sizeof(float));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

// A folder holds model.onnx and, for batches of N, input_N.f32 and output_N.f32. The tolerances are
// those of https://pytorch.org/tutorials/advanced/super_resolution_with_onnxruntime.html
TEST(OnnxParity, GivesPyTorchsOutputs) {
  const char* folder = std::getenv("LOOKOUT_PARITY");
  if (folder == nullptr) GTEST_SKIP() << "LOOKOUT_PARITY is not set: tests/models/run.py sets it";
  const ModelArchive archive(fs::path(folder) / "model.onnx");
  const OnnxContents onnx = read_contents(archive).onnx.value();
  OnnxSession session(archive, {});
  int compared = 0;
  for (const int batch : {1, 2, 3, 16}) {
    const std::string number = std::to_string(batch);
    const fs::path input = fs::path(folder) / ("input_" + number + ".f32");
    if (!fs::exists(input)) continue;
    ++compared;
    const auto& dims = onnx.inputs.at(0).dims;
    const std::array<std::int64_t, 4> shape{batch, dims.at(1), dims.at(2), dims.at(3)};
    const Ort::Value output = session.run(read_floats(input), shape, onnx.outputs.at(0).name);
    const std::vector<float> expected =
        read_floats(fs::path(folder) / ("output_" + number + ".f32"));
    ASSERT_EQ(output.GetTensorTypeAndShapeInfo().GetElementCount(), expected.size());
    const auto* values = output.GetTensorData<float>();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(values[i], expected[i], 1e-5F + 1e-3F * std::abs(expected[i]))
          << "value " << i << " of a batch of " << batch;
    }
  }
  EXPECT_GE(compared, 2);
}

}  // namespace
}  // namespace lookout
