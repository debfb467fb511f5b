#include "models/devices/costs.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <set>
#include <string>

#include "models/devices/memory.h"

namespace meter {
namespace {

using Values = std::vector<c10::IValue>;

std::atomic<std::uint64_t> multiply_adds{0};
std::atomic<std::uint64_t> bytes_read{0};
std::atomic<std::uint64_t> bytes_written{0};

std::uint64_t count(std::int64_t number) { return static_cast<std::uint64_t>(number); }

std::uint64_t bytes_of(const c10::IValue& value) {
  std::uint64_t bytes = 0;
  if (value.isTensor() && value.toTensor().defined()) return value.toTensor().nbytes();
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) bytes += tensor.nbytes();
  }
  return bytes;
}

// Arguments (input, weight, bias, stride, padding, dilation, transposed, ...).
std::uint64_t of_convolution(const Values& inputs, const at::Tensor& output) {
  const at::Tensor& weight = inputs[1].toTensor();
  const bool transposed = inputs.size() > 6 && inputs[6].isBool() && inputs[6].toBool();
  const at::Tensor& spread = transposed ? inputs[0].toTensor() : output;
  return count(spread.numel()) * count(weight.numel() / weight.size(0));
}

// The costs of a matrix, or several, times another.
std::uint64_t of_product(const c10::IValue& left, const c10::IValue& right) {
  const at::Tensor& matrix = right.toTensor();
  const std::int64_t columns = matrix.dim() > 1 ? matrix.size(-1) : 1;
  return count(left.toTensor().numel()) * count(columns);
}

std::uint64_t multiply_adds_of(const std::string& name, const Values& inputs,
                               const Values& outputs) {
  static const std::set<std::string> convolutions{
      "aten::convolution", "aten::convolution_overrideable", "aten::_convolution"};
  static const std::set<std::string> products{"aten::mm", "aten::bmm", "aten::mv", "aten::dot"};
  static const std::set<std::string> sums{"aten::addmm", "aten::addmv", "aten::baddbmm"};
  if (convolutions.count(name) != 0) return of_convolution(inputs, outputs[0].toTensor());
  if (products.count(name) != 0) return of_product(inputs[0], inputs[1]);
  if (sums.count(name) != 0) return of_product(inputs[1], inputs[2]);
  return 0;
}

// Whether the argument is only written to: `out`.
bool is_output(const c10::Argument& argument) { return argument.is_out(); }

}  // namespace

void add_call(const c10::OperatorHandle& op, const Values& inputs, const Values& outputs) {
  multiply_adds += multiply_adds_of(op.schema().name(), inputs, outputs);
  const auto& arguments = op.schema().arguments();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_output(arguments[i])) bytes_read += bytes_of(inputs[i]);
  }
  for (const c10::IValue& output : outputs) bytes_written += bytes_of(output);
}

lookout::DeviceCosts costs() {
  return {multiply_adds, bytes_read, bytes_written, live_bytes(), peak_bytes()};
}

void reset_costs() {
  multiply_adds = 0;
  bytes_read = 0;
  bytes_written = 0;
  reset_peak();
}

}  // namespace meter
