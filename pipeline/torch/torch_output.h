// What a network of LibTorch gives. Included by pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <string>
#include <vector>

#include "pipeline/model/network_output.h"

namespace lookout {

// Collects the tensors in an output, in their order: a tensor, or tuples, lists and dictionaries of
// what is one of these. Their names are those of fields and keys.
class TensorsOf {
 public:
  // Both grow together.
  TensorsOf(std::vector<NetworkOutput>& outputs, std::vector<at::Tensor>& tensors)
      : outputs_(outputs), tensors_(tensors) {}

  void add(const std::string& name, const c10::IValue& value);

 private:
  void add_tensor(const std::string& name, const at::Tensor& tensor);
  void add_tuple(const c10::IValue& value);

  std::vector<NetworkOutput>& outputs_;
  std::vector<at::Tensor>& tensors_;
};

// The numbers of a dense tensor as contiguous floats on the CPU. Bytes that are not quantized are
// parts of 255.
at::Tensor as_row(const at::Tensor& tensor);

}  // namespace lookout
