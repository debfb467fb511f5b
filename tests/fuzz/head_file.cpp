// Bytes as a head file, and as its content behind a hash that fits: a head whose parts fit
// together, or Error(kBadData).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pipeline/core/error.h"
#include "pipeline/core/sha256.h"
#include "pipeline/training/head_file.h"

namespace {

void use(const lookout::HeadFile& head) {
  const lookout::TrainedModel& model = head.model;
  const lookout::Head& layer = model.head;
  const std::size_t width = layer.weights.size() / layer.outputs;
  const lookout::Embeddings& examples = model.detector.examples;
  if (layer.biases.size() != layer.outputs || layer.weights.size() != layer.outputs * width ||
      examples.values().size() != examples.size() * examples.width()) {
    std::abort();
  }
  if (lookout::spec_of(head).labels.size() != model.classes + 1) std::abort();
  if (lookout::write_head(lookout::read_head(lookout::write_head(head))).empty()) std::abort();
}

void try_to_read(const std::string& bytes) {
  try {
    use(lookout::read_head(bytes));
  } catch (const lookout::Error& error) {
    if (error.kind() != lookout::ErrorKind::kBadData) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try_to_read(bytes);
  try_to_read("lookout-head 1\n" + lookout::sha256(bytes) + "\n" + bytes);
  return 0;
}
