// The numbers of ONNX Runtime's tensors as floats. Included by pipeline/onnx/*.cpp only.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <vector>

#include "pipeline/model/network_output.h"

namespace lookout {

// An output that is called so.
NetworkOutput describe_output(const std::string& name, const Ort::Value& value);

// The elements of a tensor of floats or bytes as floats; unsigned bytes are parts of 255.
void read_numbers(const Ort::Value& tensor, std::vector<float>& numbers);

// The numbers as elements of another type of floats or bytes; these are rounded and clamped.
std::vector<std::uint8_t> elements_of(const std::vector<float>& numbers,
                                      ONNXTensorElementDataType type);

}  // namespace lookout
