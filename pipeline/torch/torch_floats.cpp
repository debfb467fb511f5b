#include "pipeline/torch/torch_floats.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace lookout {
namespace {

// Of a node that is a constant tensor.
std::optional<at::Tensor> constant_of(const torch::jit::Node& node) {
  const auto value = c10::Symbol::attr("value");
  const bool tensor = node.kind() == c10::Symbol::prim("Constant") && node.hasAttribute(value) &&
                      node.kindOf(value) == torch::jit::AttributeKind::t;
  if (!tensor) return std::nullopt;
  return node.t(value);
}

bool has_half_weights(const torch::jit::Block& block) {
  const auto& nodes = block.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const torch::jit::Node* node) {
    const auto constant = constant_of(*node);
    if (constant && constant->dim() > 0 && ReplacedFloats{true, false}.has(constant->scalar_type()))
      return true;
    return std::any_of(node->blocks().begin(), node->blocks().end(),
                       [](const torch::jit::Block* inner) { return has_half_weights(*inner); });
  });
}

void replace_types(torch::jit::Node& node, const ReplacedFloats& replaced) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) return;
  const std::size_t count = std::min(node.inputs().size(), schema->arguments().size());
  for (std::size_t i = 0; i < count; ++i) {
    if (schema->arguments()[i].name() != "dtype") continue;
    const auto type = torch::jit::toIValue(node.input(i));
    if (!type || !type->isInt()) continue;
    if (!replaced.has(static_cast<c10::ScalarType>(type->toInt()))) continue;
    const torch::jit::WithInsertPoint before(&node);
    node.replaceInput(
        i, node.owningGraph()->insertConstant(static_cast<std::int64_t>(c10::ScalarType::Float)));
  }
}

void replace_floats(torch::jit::Block& block, const ReplacedFloats& replaced) {
  for (torch::jit::Node* node : block.nodes()) {
    const auto constant = constant_of(*node);
    if (constant && replaced.has(constant->scalar_type())) {
      node->t_(c10::Symbol::attr("value"), constant->to(at::kFloat));
      node->output()->inferTypeFrom(node->t(c10::Symbol::attr("value")));
    }
    replace_types(*node, replaced);
    for (torch::jit::Block* inner : node->blocks()) replace_floats(*inner, replaced);
  }
}

}  // namespace

bool ReplacedFloats::has(c10::ScalarType type) const {
  return (halves && (type == at::kHalf || type == at::kBFloat16)) ||
         (doubles && type == at::kDouble);
}

ReplacedFloats replace_floats(const torch::jit::Module& module) {
  ReplacedFloats replaced;
  bool only_doubles = true;
  for (const at::Tensor& weight : module.parameters()) {
    if (!weight.is_floating_point()) continue;
    replaced.halves |= ReplacedFloats{true, false}.has(weight.scalar_type());
    replaced.doubles = true;
    only_doubles &= weight.scalar_type() == at::kDouble;
  }
  replaced.doubles &= only_doubles;
  if (!replaced.any()) return replaced;
  const auto convert = [&replaced](const auto& tensors) {
    for (const at::Tensor& tensor : tensors) {
      if (replaced.has(tensor.scalar_type())) tensor.set_data(tensor.to(at::kFloat));
    }
  };
  convert(module.parameters());
  convert(module.buffers());
  return replaced;
}

void replace_floats(const std::shared_ptr<torch::jit::Graph>& graph, ReplacedFloats replaced) {
  replaced.halves |= has_half_weights(*graph->block());
  if (replaced.any()) replace_floats(*graph->block(), replaced);
}

}  // namespace lookout
