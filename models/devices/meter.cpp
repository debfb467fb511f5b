// A device for LibTorch that measures what models cost: the plug-in `meter` of lookout, and the
// example for plug-ins of one's own. It computes with the CPU's kernels, in the host's memory, so
// its results are the CPU's to the bit, and counts multiply-adds, bytes and live memory.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DeviceType.h>
#include <torch/library.h>
#include <torch/version.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/devices/costs.h"
#include "models/devices/memory.h"

namespace meter {
namespace {

bool is_tensor(const c10::IValue& value) { return value.isTensor() && value.toTensor().defined(); }

c10::IValue value_on_host(const c10::IValue& value) {
  const bool moves = is_tensor(value) && value.toTensor().is_privateuseone();
  return moves ? c10::IValue(as_host(value.toTensor())) : value;
}

c10::IValue value_on_device(const c10::IValue& value) {
  return is_tensor(value) ? c10::IValue(to_device(value.toTensor())) : value;
}

// convolution_overrideable is convolution's hook for devices; the CPU has no kernel for it.
c10::OperatorHandle on_cpu(const c10::OperatorHandle& op) {
  const bool hook = op.schema().name() == "aten::convolution_overrideable";
  return hook ? c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "") : op;
}

// Every kernel of the device. The operators that have it return new tensors and write to no others.
void compute(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto first = stack->end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const std::vector<c10::IValue> inputs(first, stack->end());
  std::transform(first, stack->end(), first, value_on_host);
  on_cpu(op).callBoxed(*stack);
  const auto count = static_cast<std::ptrdiff_t>(op.schema().returns().size());
  std::transform(stack->end() - count, stack->end(), stack->end() - count, value_on_device);
  add_call(op, inputs, {stack->end() - count, stack->end()});
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  for (const char* op : {"convolution_overrideable", "add.Tensor"}) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<compute>());
  }
}

void open() { c10::register_privateuse1_backend("meter"); }

}  // namespace
}  // namespace meter

extern "C" const lookout::DevicePlugin* lookout_device_v1() {
  static const lookout::DevicePlugin plugin{
      lookout::kDeviceInterface, TORCH_VERSION,  "meter", meter::open, meter::costs,
      meter::reset_costs,        meter::add_call};
  return &plugin;
}
