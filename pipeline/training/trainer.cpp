#include "pipeline/training/trainer.h"

namespace lookout {

void Head::apply(const float* direction, std::vector<float>& logits) const {
  const std::size_t width = weights.size() / outputs;
  logits.resize(outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    logits[i] = dot(weights.data() + i * width, direction, width) + biases[i];
  }
}

ModelSpec spec_of_base(const ModelArchive& archive, ArchiveContents contents,
                       const StatedModel& stated) {
  contents.class_ids.clear();
  return read_spec(archive, contents, std::vector<std::string>(), stated);
}

}  // namespace lookout
