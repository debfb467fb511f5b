#include "tests/support/torch_archives.h"

#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>
#include <torch/script.h>

#include <memory>

namespace lookout {

namespace {

// Knows a namespace of operators by its name, besides torch.
class WithOperators : public torch::jit::NativeResolver {
 public:
  explicit WithOperators(std::string space) : space_(std::move(space)) {}

  std::shared_ptr<torch::jit::SugaredValue> resolveValue(
      const std::string& name, torch::jit::GraphFunction& function,
      const torch::jit::SourceRange& place) override {
    if (!space_.empty() && name == space_) {
      return std::make_shared<torch::jit::BuiltinModule>(space_);
    }
    return torch::jit::NativeResolver::resolveValue(name, function, place);
  }

 private:
  std::string space_;
};

}  // namespace

std::string small_metadata() {
  return R"({"name": "small", "input": {"width": 8, "height": 8, "mean": [0, 0, 0],
             "std": [1, 1, 1], "channel_order": "RGB", "resize": "stretch"},
             "quantization": "none", "producer": {"test": "1"}, "weights": "none",
             "trained": true})";
}

void write_archive(const std::string& path, const std::string& forward_body,
                   const std::string& metadata, const std::string& labels,
                   const std::string& inputs, const std::string& operators) {
  torch::jit::Module module("small");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define("def forward(self, " + inputs + "):\n  " + forward_body + "\n",
                std::make_shared<WithOperators>(operators));
  torch::jit::ExtraFilesMap extra;
  if (!metadata.empty()) extra["metadata.json"] = metadata;
  if (!labels.empty()) extra["labels.txt"] = labels;
  module.save(path, extra);
}

}  // namespace lookout
