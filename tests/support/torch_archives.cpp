#include "tests/support/torch_archives.h"

#include <torch/script.h>

namespace lookout {

std::string small_metadata() {
  return R"({"name": "small", "input": {"width": 8, "height": 8, "mean": [0, 0, 0],
             "std": [1, 1, 1], "channel_order": "RGB", "resize": "stretch"},
             "quantization": "none", "producer": {"test": "1"}, "weights": "none",
             "trained": true})";
}

void write_archive(const std::string& path, const std::string& forward_body,
                   const std::string& metadata, const std::string& labels,
                   const std::string& inputs) {
  torch::jit::Module module("small");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define("def forward(self, " + inputs + "):\n  " + forward_body + "\n");
  torch::jit::ExtraFilesMap extra;
  if (!metadata.empty()) extra["metadata.json"] = metadata;
  if (!labels.empty()) extra["labels.txt"] = labels;
  module.save(path, extra);
}

}  // namespace lookout
