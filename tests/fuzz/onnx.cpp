// Bytes as an ONNX file: what is in it, its spec and its nodes, another end for it, or a sentence;
// and as a file of another format.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "pipeline/archive/foreign_format.h"
#include "pipeline/archive/foreign_spec.h"
#include "pipeline/archive/onnx_contents.h"
#include "pipeline/archive/onnx_graph.h"
#include "pipeline/onnx/onnx_head.h"

namespace {

lookout::TrainedModel trained() {
  lookout::TrainedModel model;
  model.classes = 2;
  model.head = {2, {1, 0, 0, 1}, {0, 0}};
  model.detector.examples.add({1, 0});
  return model;
}

template <typename Use>
void try_to(Use use) {
  try {
    use();
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try_to([&bytes] {
    const lookout::OnnxContents contents = lookout::read_onnx(bytes);
    lookout::ModelSpec spec;
    try_to([&] { lookout::take_input(contents, false, spec); });
    try_to([&] { lookout::take_foreign(contents.texts, spec); });
    try_to([&] { lookout::foreign_labels(contents.texts); });
  });
  try_to([&bytes] { lookout::read_onnx_graph(bytes); });
  try_to([&bytes] { lookout::foreign_format(bytes); });
  try_to([&bytes] { lookout::with_head(bytes, trained(), {{"key", "value"}}); });
  try_to([&bytes] {
    lookout::ModelSpec spec;
    lookout::take_foreign({{"task", "classify"}, {"names", bytes}, {"imgsz", bytes}}, spec);
  });
  try_to([&bytes] { lookout::foreign_labels({{"names", bytes}}); });
  try_to([&bytes] {
    lookout::ModelSpec spec;
    lookout::take_foreign({{"pretrained_cfg", bytes}}, spec);
  });
  return 0;
}
