#include "pipeline/torch/live_bytes.h"

#include <ATen/record_function.h>
#include <torch/csrc/jit/runtime/graph_iterator.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "pipeline/torch/operands.h"

namespace lookout {
namespace {

using Storages = std::unordered_set<const c10::StorageImpl*>;

void add_storage(const at::Tensor& tensor, Storages& storages) {
  if (tensor.has_storage()) storages.insert(tensor.storage().unsafeGetStorageImpl());
}

// Tensors in the graph; a frozen module has its weights there.
void add_constants(std::shared_ptr<torch::jit::Graph> graph, Storages& storages) {
  torch::jit::DepthFirstGraphNodeIterator nodes(graph);
  while (torch::jit::Node* node = nodes.next()) {
    if (node->kind() != c10::prim::Constant) continue;
    const auto content = torch::jit::toIValue(node->output());
    if (!content) continue;
    for_each_tensor(*content, [&](const at::Tensor& tensor) { add_storage(tensor, storages); });
  }
}

bool forks(std::shared_ptr<torch::jit::Graph> graph) {
  torch::jit::DepthFirstGraphNodeIterator nodes(graph);
  while (const torch::jit::Node* node = nodes.next()) {
    if (node->kind() == c10::prim::fork) return true;
  }
  return false;
}

// Watches the calls of this thread while it exists. Calls that a call makes are a part of it.
class LiveBytes {
 public:
  explicit LiveBytes(const torch::jit::Module& module) {
    add_constants(module.get_method("forward").graph(), constants_);
    for (const at::Tensor& tensor : module.parameters()) add_storage(tensor, constants_);
    for (const at::Tensor& tensor : module.buffers()) add_storage(tensor, constants_);
    at::RecordFunctionCallback callback(begin_call, end_call);
    callback.scopes({at::RecordScope::FUNCTION}).needsInputs(true).needsOutputs(true);
    callback_ = at::addThreadLocalCallback(callback);
    current = this;
  }
  ~LiveBytes() {
    current = nullptr;
    at::removeCallback(callback_);
  }
  LiveBytes(const LiveBytes&) = delete;
  LiveBytes& operator=(const LiveBytes&) = delete;

  std::uint64_t peak() const { return peak_; }

 private:
  static std::unique_ptr<at::ObserverContext> begin_call(const at::RecordFunction& function) {
    if (current == nullptr || current->depth_++ > 0) return nullptr;
    for (const c10::IValue& operand : operands_of(function)) current->note(operand);
    current->forget_freed();
    return nullptr;
  }

  static void end_call(const at::RecordFunction& function, at::ObserverContext* /*unused*/) {
    if (current == nullptr || --current->depth_ > 0) return;
    for (const c10::IValue& result : function.outputs()) current->note(result);
    current->peak_ = std::max(current->peak_, current->bytes());
  }

  void note(const c10::IValue& value) {
    for_each_tensor(value, [this](const at::Tensor& tensor) {
      if (!tensor.has_storage()) return;
      const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
      if (constants_.count(storage) > 0) return;
      known_.try_emplace(storage, tensor.storage().getWeakStorageImpl());
    });
  }

  void forget_freed() {
    for (auto entry = known_.begin(); entry != known_.end();) {
      entry = entry->second.expired() ? known_.erase(entry) : std::next(entry);
    }
  }

  // What was alive as the call began, and its results.
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [storage, alive] : known_) sum += storage->nbytes();
    return sum;
  }

  static thread_local LiveBytes* current;

  Storages constants_;
  // A weak pointer keeps the object, so that no other one gets its address.
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> known_;
  at::CallbackHandle callback_ = at::INVALID_CALLBACK_HANDLE;
  int depth_ = 0;
  std::uint64_t peak_ = 0;
};

thread_local LiveBytes* LiveBytes::current = nullptr;

}  // namespace

std::optional<std::uint64_t> peak_live_bytes(const torch::jit::Module& module, at::Tensor input) {
  const auto graph = module.get_method("forward").graph();
  if (forks(graph)) return std::nullopt;
  const c10::InferenceMode inference;
  const LiveBytes live(module);
  // By the interpreter itself: an executor would fuse operators into kernels that report no calls.
  const torch::jit::Code code(graph, "forward");
  torch::jit::Stack stack{module._ivalue()};
  stack.emplace_back(std::move(input));  // an initializer list would keep it
  torch::jit::InterpreterState(code).run(stack);
  return live.peak();
}

}  // namespace lookout
