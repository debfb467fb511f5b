// The operands of a call of an operator. Included by pipeline/torch/*.cpp only.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <algorithm>

namespace lookout {

// Calls `use` with each tensor in the value, also in lists and tuples.
template <typename Use>
void for_each_tensor(const c10::IValue& value, const Use& use) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) use(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) for_each_tensor(element, use);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, use);
  }
}

// Of a callback with needsInputs. LibTorch gives it the interpreter's whole stack, on which the
// operands lie last (Dispatcher::callBoxed).
inline c10::ArrayRef<const c10::IValue> operands_of(const at::RecordFunction& function) {
  const auto stack = function.inputs();
  const std::size_t count = std::min(stack.size(), function.num_inputs());
  return stack.slice(stack.size() - count);
}

}  // namespace lookout
