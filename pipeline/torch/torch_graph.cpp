#include "pipeline/torch/torch_graph.h"

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_set>

namespace lookout {
namespace {

// The parameters as a quantized tensor of LibTorch can hold them; empty: they are out of range.
// LibTorch stores the scale of a tensor that is made of bytes as float, so a finer one does not
// fit.
std::optional<InputQuantization> checked_quantization(double scale, std::int64_t zero_point,
                                                      bool is_signed) {
  const InputQuantization found{static_cast<float>(scale), static_cast<int>(zero_point), is_signed};
  if (found.scale != scale || found.scale <= 0 || !std::isnormal(found.scale)) return std::nullopt;
  const std::int64_t min = is_signed ? -128 : 0;
  if (zero_point < min || zero_point > min + 255) return std::nullopt;
  return found;
}

// The parameters of a node that quantizes a tensor with constants; empty: it does not.
std::optional<InputQuantization> read_quantization(const torch::jit::Node& node) {
  if (node.kind() != c10::Symbol::fromQualString("aten::quantize_per_tensor") ||
      node.inputs().size() != 4) {
    return std::nullopt;
  }
  const auto scale = torch::jit::toIValue(node.input(1));
  const auto zero_point = torch::jit::toIValue(node.input(2));
  const auto type = torch::jit::toIValue(node.input(3));
  if (!scale || !scale->isDouble() || !zero_point || !zero_point->isInt()) return std::nullopt;
  if (!type || !type->isInt()) return std::nullopt;
  const bool is_signed = type->toInt() == static_cast<std::int64_t>(at::kQInt8);
  if (!is_signed && type->toInt() != static_cast<std::int64_t>(at::kQUInt8)) return std::nullopt;
  return checked_quantization(scale->toDouble(), zero_point->toInt(), is_signed);
}

// The sides that a node exchanges in a tensor [n, channels, height, width]; empty: it does not, or
// something else, too.
std::optional<InputFlip> read_flip(const torch::jit::Node& node) {
  if (node.kind() != c10::Symbol::fromQualString("aten::flip") || node.inputs().size() != 2) {
    return std::nullopt;
  }
  const auto dimensions = torch::jit::toIValue(node.input(1));
  if (!dimensions || !dimensions->isIntList()) return std::nullopt;
  InputFlip found;
  for (const std::int64_t dimension : dimensions->toIntVector()) {
    const std::int64_t axis = dimension < 0 ? dimension + 4 : dimension;
    if (axis != 2 && axis != 3) return std::nullopt;
    bool& side = axis == 2 ? found.y : found.x;
    if (side) return std::nullopt;  // twice is an error
    side = true;
  }
  return found;
}

// The only node that uses the input; null: there are none or several.
torch::jit::Node* first_node(torch::jit::Graph& graph) {
  if (graph.inputs().size() != 2) return nullptr;  // the module and x
  const auto& uses = graph.inputs()[1]->uses();
  return uses.size() == 1 ? uses.front().user : nullptr;
}

bool is_kept_or_changed(const std::shared_ptr<torch::jit::Graph>& graph, torch::jit::Value& value) {
  const torch::jit::AliasDb aliases(graph);
  torch::jit::Value* values = &value;
  return aliases.hasWriters(&value) || aliases.escapesScope(values);
}

// What `read` finds in the only node that uses the input, which is removed. Empty: nothing, or
// `forward` keeps or changes the node's result, which the caller would make.
template <typename Step>
std::optional<Step> fold_first_step(const std::shared_ptr<torch::jit::Graph>& graph,
                                    std::optional<Step> (*read)(const torch::jit::Node&)) {
  torch::jit::Node* first = first_node(*graph);
  if (first == nullptr) return std::nullopt;
  const std::optional<Step> step = read(*first);
  if (!step || is_kept_or_changed(graph, *first->output())) return std::nullopt;
  // The input keeps its type: in an archive that is just "Tensor".
  first->output()->replaceAllUsesWith(graph->inputs()[1]);
  first->destroy();
  return step;
}

// Packed objects of quantized layers give their tensors with their state (`__getstate__`). Integer
// tensors there are strides and paddings.
class ParameterCount {
 public:
  std::uint64_t count_module(const torch::jit::Module& module) {
    std::uint64_t sum = 0;
    for (const at::Tensor& parameter : module.parameters()) sum += weights(parameter);
    for (const torch::jit::Module& part : module.modules()) {
      for (const auto& slot : part._ivalue()->slots()) {
        if (slot.isObject() && !slot.type()->is_module()) sum += packed(slot);
      }
    }
    return sum;
  }

 private:
  static std::uint64_t weights(const at::Tensor& tensor) {
    const bool weight = tensor.defined() && (tensor.is_floating_point() || tensor.is_quantized());
    return weight ? static_cast<std::uint64_t>(tensor.numel()) : 0;
  }

  std::uint64_t packed(const c10::IValue& object) {
    auto* get_state = object.toObject()->type()->findMethod("__getstate__");
    const bool first_time = seen_.insert(object.toObject().get()).second;
    return get_state != nullptr && first_time ? in_state((*get_state)({object})) : 0;
  }

  std::uint64_t in_state(const c10::IValue& value) {
    if (value.isTensor()) return weights(value.toTensor());
    std::uint64_t sum = 0;
    if (value.isTuple()) {
      for (const auto& element : value.toTupleRef().elements()) sum += in_state(element);
    } else if (value.isList()) {
      for (const c10::IValue& element : value.toListRef()) sum += in_state(element);
    }
    return sum;
  }

  std::unordered_set<const void*> seen_;
};

}  // namespace

std::uint64_t count_parameters(const torch::jit::Module& module) {
  return ParameterCount().count_module(module);
}

bool has_packed_weights(const torch::jit::Module& module) {
  for (const torch::jit::Module& part : module.modules()) {
    for (const auto& slot : part._ivalue()->slots()) {
      if (slot.isObject() && !slot.type()->is_module()) return true;
    }
  }
  return false;
}

std::string find_activations(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind() == c10::Symbol::fromQualString("aten::quantize_per_tensor")) {
      const auto type = torch::jit::toIValue(node->inputs().back());
      if (type && type->isInt()) {
        return type->toInt() == static_cast<std::int64_t>(c10::ScalarType::QInt8) ? "qint8"
                                                                                  : "quint8";
      }
    }
    for (const torch::jit::Block* inner : node->blocks()) {
      std::string found = find_activations(*inner);
      if (found != "float32") return found;
    }
  }
  return "float32";
}

bool aliases_or_mutates_input(const std::shared_ptr<torch::jit::Graph>& graph) {
  // An input may be anything, for LibTorch's analysis; a copy of it is known.
  const std::shared_ptr<torch::jit::Graph> seen = graph->copy();
  torch::jit::Value* input = seen->inputs()[1];  // behind the module; others have defaults
  const torch::jit::WithInsertPoint at_start(*seen->nodes().begin());
  torch::jit::Value* copy = seen->insert(c10::aten::clone, {input});
  input->replaceAllUsesAfterNodeWith(copy->node(), copy);
  return is_kept_or_changed(seen, *copy);
}

std::optional<InputQuantization> take_input_quantization(
    const std::shared_ptr<torch::jit::Graph>& graph) {
  return fold_first_step(graph, read_quantization);
}

std::optional<InputFlip> take_input_flip(const std::shared_ptr<torch::jit::Graph>& graph) {
  return fold_first_step(graph, read_flip);
}

namespace {

using CallStack = torch::jit::InlinedCallStackPtr;

// The same calls of module instances, outermost first, as calls of `forward`.
CallStack as_calls_of(torch::jit::Function& forward, const CallStack& call) {
  const auto callee = call->callee();
  if (!callee) {
    return c10::make_intrusive<torch::jit::InlinedCallStack>(&forward, call->source_range(),
                                                             call->module_instance());
  }
  return c10::make_intrusive<torch::jit::InlinedCallStack>(
      as_calls_of(forward, *callee), &forward, call->source_range(), call->module_instance());
}

// Names that LibTorch gives where there is no module, or none that is known.
bool is_no_module(std::string_view instance) {
  constexpr std::array<std::string_view, 4> kNames{"TOP", "SELF", "UNKNOWN_INSTANCE",
                                                   "INSTANCE_NAME_UNKNOWN"};
  return std::find(kNames.begin(), kNames.end(), instance) != kNames.end();
}

}  // namespace

void keep_layers(torch::jit::Block& block, torch::jit::Function& forward) {
  for (torch::jit::Node* node : block.nodes()) {
    const auto calls = node->callstack();
    if (calls && *calls) {
      node->setCallStack(as_calls_of(forward, *calls));
    } else if (calls) {  // of a node of make_backbone()
      node->setCallStack(
          c10::make_intrusive<torch::jit::InlinedCallStack>(&forward, node->sourceRange()));
    }
    for (torch::jit::Block* inner : node->blocks()) keep_layers(*inner, forward);
  }
}

std::string layer_of(const std::vector<std::string>& calls) {
  std::string layer;
  for (const std::string& call : calls) {
    const std::string_view text = call;
    const std::string_view instance = text.substr(0, text.find('('));
    const bool is_function = instance == text;
    if (is_function || is_no_module(instance)) continue;
    if (!layer.empty()) layer += '.';
    layer += instance;
  }
  return layer;
}

std::string current_layer() { return layer_of(torch::jit::currentModuleHierarchy()); }

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
