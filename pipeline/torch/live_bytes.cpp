#include "pipeline/torch/live_bytes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace lookout {
namespace {

using Memory = std::unordered_set<const void*>;

// Calls `use` with each tensor in the value, also in lists and tuples.
template <typename Use>
void for_each_tensor(const c10::IValue& value, const Use& use) {
  if (value.isTensor()) {
    if (value.toTensor().defined() && value.toTensor().has_storage()) use(value.toTensor());
  } else if (value.isTuple()) {
    for (const auto& element : value.toTupleRef().elements()) for_each_tensor(element, use);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, use);
  }
}

// Of a label (record_function), which is an object and holds no tensors of the network. The
// interpreter has no operations for these.
bool belongs_to_label(const torch::jit::Node& node) {
  return node.kind() == c10::prim::CreateObject || node.kind() == c10::prim::SetAttr ||
         node.kind() == c10::prim::Enter || node.kind() == c10::prim::Exit;
}

class LiveBytes {
 public:
  explicit LiveBytes(const torch::jit::Block& block) : block_(block) {
    for (const torch::jit::Node* node : block.nodes()) note_uses(*node, node);
    for (const torch::jit::Value* output : block.outputs()) last_use_[output] = nullptr;
  }

  void set_input(const torch::jit::Value* value, c10::IValue content) {
    if (last_use_.count(value) > 0) live_[value] = std::move(content);
  }

  std::uint64_t peak() {
    for (const torch::jit::Node* node : block_.nodes()) {
      run(*node);
      forget_used(node);
    }
    return peak_;
  }

 private:
  // `outer`: the node of block_ that `node` is or lies in.
  void note_uses(const torch::jit::Node& node, const torch::jit::Node* outer) {
    for (const torch::jit::Value* value : node.inputs()) last_use_[value] = outer;
    for (const torch::jit::Value* value : node.outputs()) last_use_.try_emplace(value, outer);
    for (const torch::jit::Block* block : node.blocks()) {
      for (const torch::jit::Node* inner : block->nodes()) note_uses(*inner, outer);
      for (const torch::jit::Value* value : block->outputs()) last_use_[value] = outer;
    }
  }

  void run(const torch::jit::Node& node) {
    if (node.kind() == c10::prim::If) {
      run_branch(node);
    } else if (node.kind() == c10::prim::Constant) {
      const c10::IValue content = torch::jit::toIValue(node.output()).value();
      remember_constants(content);
      live_[node.output()] = content;
    } else if (belongs_to_label(node)) {
      for (const torch::jit::Value* output : node.outputs()) live_[output] = c10::IValue();
    } else {
      run_operation(node);
    }
    peak_ = std::max(peak_, live_bytes());
  }

  void run_branch(const torch::jit::Node& node) {
    const torch::jit::Block* branch = node.blocks().at(live_.at(node.input()).toBool() ? 0 : 1);
    for (const torch::jit::Node* inner : branch->nodes()) run(*inner);
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      live_[node.outputs()[i]] = live_.at(branch->outputs()[i]);
    }
  }

  void run_operation(const torch::jit::Node& node) {
    torch::jit::Stack stack;
    for (const torch::jit::Value* input : node.inputs()) stack.push_back(live_.at(input));
    node.getOperation()(stack);
    const std::size_t first = stack.size() - node.outputs().size();
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
      live_[node.outputs()[i]] = stack.at(first + i);
    }
  }

  void remember_constants(const c10::IValue& content) {
    for_each_tensor(content, [this](const at::Tensor& tensor) {
      constants_.insert(tensor.storage().unsafeGetStorageImpl());
    });
  }

  void forget_used(const torch::jit::Node* node) {
    for (auto value = live_.begin(); value != live_.end();) {
      value = last_use_.at(value->first) == node ? live_.erase(value) : std::next(value);
    }
  }

  std::uint64_t live_bytes() const {
    Memory counted = constants_;
    std::uint64_t sum = 0;
    for (const auto& [value, content] : live_) {
      for_each_tensor(content, [&](const at::Tensor& tensor) {
        if (counted.insert(tensor.storage().unsafeGetStorageImpl()).second) {
          sum += tensor.storage().nbytes();
        }
      });
    }
    return sum;
  }

  const torch::jit::Block& block_;
  // The last node of block_ that uses a value, or else the one that makes it; null: an output.
  std::unordered_map<const torch::jit::Value*, const torch::jit::Node*> last_use_;
  std::map<const torch::jit::Value*, c10::IValue> live_;
  Memory constants_;
  std::uint64_t peak_ = 0;
};

bool has_loop(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    if (node->kind() == c10::prim::Loop) return true;
    for (const torch::jit::Block* inner : node->blocks()) {
      if (has_loop(*inner)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> peak_live_bytes(const torch::jit::Module& module,
                                             const at::Tensor& input) {
  const auto graph = module.get_method("forward").graph();
  if (has_loop(*graph->block())) return std::nullopt;
  const c10::InferenceMode inference;
  LiveBytes live(*graph->block());
  live.set_input(graph->inputs().at(0), module._ivalue());
  live.set_input(graph->inputs().at(1), input);
  return live.peak();
}

}  // namespace lookout
