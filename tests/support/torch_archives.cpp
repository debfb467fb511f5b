#include "tests/support/torch_archives.h"

#include <caffe2/serialize/inline_container.h>
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
  module.register_attribute("last", c10::TensorType::get(), torch::zeros({1}));
  module.define("def forward(self, " + inputs + "):\n  " + forward_body + "\n",
                std::make_shared<WithOperators>(operators));
  torch::jit::ExtraFilesMap extra;
  if (!metadata.empty()) extra["metadata.json"] = metadata;
  if (!labels.empty()) extra["labels.txt"] = labels;
  module.save(path, extra);
}

void copy_archive(const std::string& from, const std::string& to, const ArchiveChange& change) {
  caffe2::serialize::PyTorchStreamReader reader(from);
  caffe2::serialize::PyTorchStreamWriter writer(to);
  for (const std::string& name : reader.getAllRecords()) {
    if (name == "version" || name == ".data/serialization_id") continue;  // written at the end
    const auto [data, size] = reader.getRecord(name);
    std::string content(static_cast<const char*>(data.get()), size);
    const bool code = name.rfind("code/", 0) == 0 && name.find("debug_pkl") == std::string::npos;
    const auto found = code ? content.find(change.from) : std::string::npos;
    if (found != std::string::npos) content.replace(found, change.from.size(), change.to);
    writer.writeRecord(name, content.data(), content.size());
  }
  if (!change.member.empty() && !reader.hasRecord(change.member))
    writer.writeRecord(change.member, "little", 6);
  if (change.version > 0) writer.setMinVersion(change.version);
  writer.writeEndOfFile();
}

void write_convolution(const std::string& path) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::Module features("__torch__.Features", unit);
  features.register_attribute("training", c10::BoolType::get(), true);
  features.register_parameter("weight",
                              torch::arange(9).reshape({3, 3, 1, 1}).to(torch::kFloat) / 9,
                              /*is_buffer=*/false);
  features.define("def forward(self, x):\n  return torch.hardtanh(torch.conv2d(x, self.weight))\n");
  torch::jit::Module module("__torch__.Small", unit);
  module.register_attribute("training", c10::BoolType::get(), true);
  module.register_module("features", features);
  module.define(
      "def forward(self, x):\n  y = self.features.forward(x)\n  return torch.mean(y + y, [2, "
      "3])\n");
  module.save(path, {{"metadata.json", small_metadata()}, {"labels.txt", kThreeLabels}});
}

void write_in_floats(const std::string& path, const std::string& type, bool frozen,
                     const std::string& metadata) {
  const auto floats = type == "Half" ? at::kHalf : type == "Double" ? at::kDouble : at::kBFloat16;
  const std::string number = std::to_string(static_cast<int>(floats));
  torch::jit::Module module("converted");
  module.register_attribute("training", c10::BoolType::get(), !frozen);
  module.register_parameter("weight", torch::eye(3).reshape({3, 3, 1, 1}).to(floats), false);
  module.register_buffer("offset", torch::zeros({3}).to(floats));
  module.register_buffer("count", torch::zeros({1}, torch::kLong));
  module.define("def forward(self, x):\n  y = torch.conv2d(x.to(" + number +
                "), self.weight, self.offset)\n"
                "  return torch.sum(y, [2, 3], dtype=" +
                number + ") * (self.count + 1)\n");
  const torch::jit::Module saved = frozen ? torch::jit::freeze(module) : module;
  saved.save(path, {{"metadata.json", metadata}, {"labels.txt", kThreeLabels}});
}

}  // namespace lookout
