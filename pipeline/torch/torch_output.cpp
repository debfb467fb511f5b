#include "pipeline/torch/torch_output.h"

#include <cstddef>

namespace lookout {
namespace {

NetworkOutput::Numbers numbers_of(const at::Tensor& tensor) {
  if (tensor.layout() != at::kStrided) return NetworkOutput::Numbers::kOther;
  if (tensor.is_floating_point() || tensor.is_quantized()) return NetworkOutput::Numbers::kFloats;
  return tensor.scalar_type() == at::kByte ? NetworkOutput::Numbers::kBytes
                                           : NetworkOutput::Numbers::kOther;
}

}  // namespace

void TensorsOf::add(const std::string& name, const c10::IValue& value) {
  if (value.isTensor()) {
    add_tensor(name, value.toTensor());
  } else if (value.isTuple()) {
    add_tuple(value);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) add(name, element);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {  // in the order in which they were added
      add(entry.key().isString() ? entry.key().toStringRef() : "", entry.value());
    }
  }
}

void TensorsOf::add_tensor(const std::string& name, const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  NetworkOutput output;
  output.name = name;
  output.numbers = numbers_of(tensor);
  if (tensor.layout() == at::kStrided) {
    output.type = c10::toString(tensor.scalar_type());
    output.dims = tensor.sizes().vec();
  } else {
    output.type = "layout " + c10::str(tensor.layout());
  }
  outputs_.push_back(std::move(output));
  tensors_.push_back(tensor);
}

void TensorsOf::add_tuple(const c10::IValue& value) {
  const auto tuple = value.toTuple();
  const auto& elements = tuple->elements();
  const auto type = tuple->type();
  const auto& schema = type->schema();  // of a named tuple
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool named = schema && i < schema->arguments().size();
    add(named ? schema->arguments()[i].name() : "", elements[i]);
  }
}

at::Tensor as_row(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.is_quantized() ? tensor.dequantize() : tensor;
  const at::Tensor floats = dense.to(at::kCPU, at::kFloat).contiguous();
  return tensor.scalar_type() == at::kByte ? floats / 255 : floats;
}

}  // namespace lookout
