#include "pipeline/torch/torch_device_calls.h"

#include <ATen/core/Tensor.h>
#include <ATen/native/CPUFallback.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "pipeline/torch/operands.h"
#include "pipeline/torch/torch_graph.h"

namespace lookout {
namespace {

thread_local DeviceCallCounter* counter = nullptr;

// Calls `use` with each tensor on the device.
template <typename Values, typename Use>
void for_each_device_tensor(const Values& values, const Use& use) {
  for (const c10::IValue& value : values) {
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      if (tensor.device().type() == c10::DeviceType::PrivateUse1) use(tensor);
    });
  }
}

std::uint64_t device_bytes(const std::vector<c10::IValue>& values) {
  std::uint64_t bytes = 0;
  for_each_device_tensor(values, [&bytes](const at::Tensor& tensor) { bytes += tensor.nbytes(); });
  return bytes;
}

std::vector<c10::IValue> last_of(const torch::jit::Stack& stack, std::size_t count) {
  return {stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()};
}

// Copies are what a device does between calls. Views and new tensors compute nothing.
bool computes(const c10::FunctionSchema& schema) {
  constexpr std::array<std::string_view, 6> kCopies{
      "aten::_copy_from", "aten::_copy_from_and_resize", "aten::copy_", "aten::_to_copy",
      "aten::resize_",    "aten::_local_scalar_dense"};
  if (std::find(kCopies.begin(), kCopies.end(), schema.name()) != kCopies.end()) return false;
  const bool view =
      std::any_of(schema.returns().begin(), schema.returns().end(), [](const auto& result) {
        return result.alias_info() != nullptr && !result.alias_info()->isWrite();
      });
  return !view && schema.name().rfind("aten::set_", 0) != 0;
}

// Whether the device has a kernel of its own for this call.
bool runs_on_device(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name) return false;
  const auto op = c10::Dispatcher::singleton().findSchema(*name);
  if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) return false;
  bool gets_device_tensor = false;
  for_each_device_tensor(operands_of(function),
                         [&](const at::Tensor&) { gets_device_tensor = true; });
  return gets_device_tensor && computes(op->schema());
}

}  // namespace

DeviceCallCounter::DeviceCallCounter(const DevicePlugin& plugin) : plugin_(plugin) {
  at::RecordFunctionCallback callback(begin_observed, end_observed);
  callback.scopes({at::RecordScope::FUNCTION}).needsInputs(true);
  callback_ = at::addThreadLocalCallback(callback);
  counter = this;
}

DeviceCallCounter::~DeviceCallCounter() {
  counter = nullptr;
  at::removeCallback(callback_);
}

DeviceCallCounter* DeviceCallCounter::current() { return counter; }

std::unique_ptr<at::ObserverContext> DeviceCallCounter::begin_observed(
    const at::RecordFunction& function) {
  if (counter == nullptr || counter->open_ || !runs_on_device(function)) return nullptr;
  counter->begin(c10::toString(*function.operator_name()), &function);
  return nullptr;
}

void DeviceCallCounter::end_observed(const at::RecordFunction& function,
                                     at::ObserverContext* /*context*/) {
  if (counter == nullptr || !counter->open_ || counter->open_->function != &function) return;
  ++counter->end().on_device;
}

void DeviceCallCounter::begin(std::string op, const at::RecordFunction* function) {
  open_.emplace();
  open_->function = function;
  open_->op = std::move(op);
  open_->layer = current_layer();
  if (plugin_.reset != nullptr) plugin_.reset();
  open_->start = std::chrono::steady_clock::now();
}

DeviceCalls& DeviceCallCounter::end() {
  const auto now = std::chrono::steady_clock::now();
  const auto [row, is_new] = rows_.try_emplace({open_->op, open_->layer}, use_.calls.size());
  if (is_new) {
    DeviceCalls& added = use_.calls.emplace_back();
    added.op = open_->op;
    added.layer = open_->layer;
  }
  DeviceCalls& calls = use_.calls[row->second];
  calls.time += now - open_->start;
  if (plugin_.costs != nullptr) {
    const DeviceCosts costs = plugin_.costs();
    calls.multiply_adds += costs.multiply_adds;
    calls.bytes_read += costs.bytes_read;
    calls.bytes_written += costs.bytes_written;
    calls.peak_bytes = std::max(calls.peak_bytes, costs.peak_bytes);
  }
  open_.reset();
  return calls;
}

void DeviceCallCounter::fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (open_) return run_on_cpu(op, stack);
  const auto inputs = last_of(*stack, op.schema().arguments().size());
  std::uint64_t moved = device_bytes(inputs);
  begin(c10::toString(op.operator_name()), nullptr);
  run_on_cpu(op, stack);
  const auto outputs = last_of(*stack, op.schema().returns().size());
  moved += device_bytes(outputs);
  if (plugin_.fallen_back != nullptr) plugin_.fallen_back(op, inputs, outputs);
  DeviceCalls& calls = end();
  ++calls.fallen_back;
  calls.bytes_moved += moved;
}

DeviceUse DeviceCallCounter::use() const { return use_; }

void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

}  // namespace lookout
