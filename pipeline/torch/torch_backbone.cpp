#include "pipeline/torch/torch_backbone.h"

#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/passes/peephole.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/training/ood_detector.h"

namespace lookout {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

constexpr std::array<std::string_view, 4> kLinear{"aten::linear", "quantized::linear",
                                                  "quantized::linear_dynamic", "aten::addmm"};
// What may come after the last layer: it changes how scores look, not their order.
constexpr std::array<std::string_view, 8> kAfterwards{
    "aten::dequantize", "aten::softmax",    "aten::log_softmax", "aten::sigmoid",
    "aten::dropout",    "aten::contiguous", "aten::flatten",     "aten::squeeze"};

template <std::size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& kinds) {
  return std::find(kinds.begin(), kinds.end(), node.kind().toQualString()) != kinds.end();
}

// A value that a graph takes from its module: features.0.0.weight.
struct Attribute {
  std::string path;  // with _ between the parts
  bool is_parameter = false;
  c10::IValue value;
  c10::TypePtr type;
};

// Makes the module of an inlined graph flat: what the graph takes from modules within modules
// becomes an attribute of one module.
class Flattening {
 public:
  Flattening(const torch::jit::Module& network, Graph& graph, torch::jit::Module& flat)
      : network_(network), graph_(graph), flat_(flat) {}

  void run() {
    graph_.inputs()[0]->setType(flat_.type());
    flatten(*graph_.block());
    torch::jit::EliminateDeadCode(graph_.block());
  }

 private:
  using Path = std::vector<std::string>;

  // The names that lead to a module or attribute; nothing for a value from elsewhere.
  std::optional<Path> path_of(const Value* value) const {
    if (value == graph_.inputs()[0]) return Path();
    if (value->node()->kind() != c10::prim::GetAttr) return std::nullopt;
    std::optional<Path> path = path_of(value->node()->input());
    if (path) path->push_back(value->node()->s(c10::attr::name));
    return path;
  }

  void flatten(Block& block) {
    for (Node* node : block.nodes()) {
      for (Block* inner : node->blocks()) flatten(*inner);
      if (node->kind() == c10::prim::SetAttr) {
        throw std::runtime_error("it changes its own values while it classifies");
      }
      if (node->kind() != c10::prim::GetAttr || node->output()->type()->is_module()) continue;
      if (const auto path = path_of(node->output())) replace(*node, *path);
    }
  }

  void replace(Node& node, const Path& path) {
    torch::jit::WithInsertPoint before(&node);
    Value* value = nullptr;
    if (path.back() == "training") {
      value = graph_.insertConstant(false);
    } else {
      Node* get = graph_.insertNode(graph_.createGetAttr(graph_.inputs()[0], add(path)));
      get->output()->setType(node.output()->type());
      value = get->output();
    }
    node.output()->replaceAllUsesWith(value);
  }

  // Returns the attribute's name.
  std::string add(const Path& path) {
    torch::jit::Module owner = network_;
    std::string name;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      owner = owner.attr(path[i]).toModule();
      name += path[i] + "_";
    }
    // Parts may begin with a digit, a name may not.
    name = "p_" + name + path.back();
    if (flat_.hasattr(name)) return name;
    const auto type = owner.type();
    const std::size_t slot = type->getAttributeSlot(path.back());
    flat_.register_attribute(name, type->getAttribute(slot), owner.attr(path.back()),
                             type->is_parameter(slot));
    return name;
  }

  torch::jit::Module network_;
  Graph& graph_;
  torch::jit::Module& flat_;
};

// Walks back from the output to the last layer.
Node& find_last_layer(Graph& graph) {
  Node* node = graph.outputs().at(0)->node();
  while (is_one_of(*node, kAfterwards)) node = node->input(0)->node();
  if (is_one_of(*node, kLinear)) return *node;
  const bool is_input = node->kind() == c10::prim::Param;
  throw std::runtime_error(
      "its last layer is not linear but " +
      (is_input ? std::string("missing") : std::string(node->kind().toQualString())));
}

bool is_kind(const Node& node, const char* kind) {
  return node.kind() == c10::Symbol::fromQualString(kind);
}

// The value of a constant or of an attribute of a flat module; nothing for a computed one.
std::optional<c10::IValue> value_of(const Value* value, const torch::jit::Module& flat) {
  const Node& node = *value->node();
  if (node.kind() == c10::prim::GetAttr) {
    const std::string& name = node.s(c10::attr::name);
    return flat.hasattr(name) ? std::optional(flat.attr(name)) : std::nullopt;
  }
  return torch::jit::toIValue(value);
}

// What packed weights give with their state: a tuple whose first element are the weights.
at::Tensor unpacked(const c10::IValue& packed) {
  auto* get_state = packed.toObject()->type()->findMethod("__getstate__");
  if (get_state == nullptr) return {};
  const c10::IValue state = (*get_state)({packed});
  const bool has_weights = state.isTuple() && !state.toTupleRef().elements().empty() &&
                           state.toTupleRef().elements()[0].isTensor();
  return has_weights ? at::dequantize(state.toTupleRef().elements()[0].toTensor()) : at::Tensor();
}

// The weights of a linear layer, [outputs, width]; not defined when they cannot be read.
at::Tensor weights_of(const Node& layer, const torch::jit::Module& flat) {
  const bool addmm = layer.kind() == c10::aten::addmm;
  const Value* value = layer.input(addmm ? 2 : 1);
  const bool turned = value->node()->kind() == c10::aten::t;
  if (turned) value = value->node()->input(0);
  const std::optional<c10::IValue> found = value_of(value, flat);
  if (!found) return {};
  at::Tensor weights;
  if (found->isTensor()) weights = found->toTensor();
  if (found->isObject()) weights = unpacked(*found);
  if (!weights.defined() || weights.dim() != 2) return {};
  if (addmm != turned) weights = weights.t();
  return weights.detach().to(at::kFloat).contiguous();
}

// `value` as floats, at the end of the graph.
Value* as_floats(Value* value, bool quantized, Graph& graph) {
  if (!quantized) return value;
  Node* dequantize = graph.insertNode(graph.create(c10::aten::dequantize, {value}));
  dequantize->output()->setType(c10::TensorType::get());
  return dequantize->output();
}

// Has the graph return what `layer` takes, and perhaps what it gives.
void end_at(Node& layer, bool with_scores, Graph& graph) {
  const bool addmm = layer.kind() == c10::aten::addmm;
  const bool quantized = is_kind(layer, "quantized::linear");
  graph.eraseOutput(0);
  // What comes after it may have effects that dead code must keep, such as exceptions.
  std::vector<Node*> after;
  for (Node* node : graph.nodes()) {
    if (node->isAfter(&layer)) after.push_back(node);
  }
  for (auto node = after.rbegin(); node != after.rend(); ++node) (*node)->destroy();
  const torch::jit::WithInsertPoint at_end(graph.block());
  Value* embedding = as_floats(layer.input(addmm ? 1 : 0), quantized, graph);
  if (!with_scores) {
    graph.registerOutput(embedding);
    layer.destroy();
    return;
  }
  layer.output()->setType(c10::TensorType::get());
  embedding->setType(c10::TensorType::get());
  Value* scores = as_floats(layer.output(), quantized, graph);
  graph.registerOutput(graph.insertNode(graph.createTuple({embedding, scores}))->output());
}

void end_at_last_layer(const torch::jit::Module& flat, Graph& graph) {
  Node& layer = find_last_layer(graph);
  const at::Tensor weights = weights_of(layer, flat);
  const auto least = static_cast<std::int64_t>(kLeastClassesOfProfiles);
  end_at(layer, weights.defined() && weights.size(0) >= least, graph);
}

void simplify(std::shared_ptr<Graph>& graph) {
  torch::jit::ConstantPropagation(graph);
  torch::jit::LowerSimpleTuples(graph);
  torch::jit::PeepholeOptimize(graph);
  torch::jit::EliminateDeadCode(graph);
}

// Returns the module's forward, without calls and without names of functions that it was made of.
std::shared_ptr<Graph> inlined_forward(const torch::jit::Module& module) {
  std::shared_ptr<Graph> graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  if (graph->inputs().size() != 2 || graph->outputs().size() != 1) {
    throw std::runtime_error("it does not take one picture and return one tensor");
  }
  return graph;
}

void forget_call_stacks(Block& block) {
  for (Node* node : block.nodes()) {
    node->setCallStack({});
    for (Block* inner : node->blocks()) forget_call_stacks(*inner);
  }
}

// Removes attributes that nothing takes any more by making the module anew with the others.
torch::jit::Module with_used_attributes(const torch::jit::Module& all, Graph& graph,
                                        const std::shared_ptr<torch::jit::CompilationUnit>& unit) {
  torch::jit::Module used("__torch__.lookout.Backbone", unit);
  used.register_attribute("training", c10::BoolType::get(), false);
  for (const torch::jit::Use& use : graph.inputs()[0]->uses()) {
    const std::string& name = use.user->s(c10::attr::name);
    if (used.hasattr(name)) continue;
    const std::size_t slot = all.type()->getAttributeSlot(name);
    used.register_attribute(name, all.type()->getAttribute(slot), all.attr(name),
                            all.type()->is_parameter(slot));
  }
  graph.inputs()[0]->setType(used.type());
  return used;
}

}  // namespace

torch::jit::Module make_backbone(const torch::jit::Module& network,
                                 const std::shared_ptr<torch::jit::CompilationUnit>& unit) {
  const bool is_cut = network.hasattr(kBackbone) && network.attr(kBackbone).isModule();
  const torch::jit::Module base = is_cut ? network.attr(kBackbone).toModule() : network;
  std::shared_ptr<Graph> graph = inlined_forward(base);
  torch::jit::Module all("all");
  Flattening(base, *graph, all).run();
  simplify(graph);
  if (!is_cut) end_at_last_layer(all, *graph);
  torch::jit::EliminateDeadCode(graph);
  forget_call_stacks(*graph->block());
  torch::jit::Module backbone = with_used_attributes(all, *graph, unit);
  backbone.type()->addMethod(
      unit->create_function(c10::QualifiedName(*backbone.type()->name(), "forward"), graph));
  return backbone;
}

at::Tensor last_weights(const torch::jit::Module& backbone) {
  const std::shared_ptr<Graph> graph = backbone.get_method("forward").graph();
  const Node* pair = graph->outputs().at(0)->node();
  if (pair->kind() != c10::prim::TupleConstruct || pair->inputs().size() != 2) return {};
  const Node* layer = pair->input(1)->node();
  if (layer->kind() == c10::aten::dequantize) layer = layer->input(0)->node();
  return is_one_of(*layer, kLinear) ? weights_of(*layer, backbone) : at::Tensor();
}

}  // namespace lookout
