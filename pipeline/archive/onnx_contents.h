// Reads an ONNX file without an engine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/archive/custom_operators.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

// An input or output of the graph.
struct OnnxValue {
  std::string name;
  std::string type;                // of the elements: "float"
  std::vector<std::int64_t> dims;  // -1: any size
};

struct OnnxContents {
  std::int64_t opset = 0;                // of ONNX's own operators
  std::string producer;                  // "pytorch 2.9.1"; empty: not told
  std::string activations;               // as ModelFacts
  std::uint64_t parameters = 0;          // weights and biases, without scales and zero points
  std::uint64_t weight_bytes = 0;        // of all constants
  std::map<std::string, int> operators;  // how often each is used
  // As ArchiveContents: those whose domain neither ONNX nor ONNX Runtime defines, and that are none
  // of the model's own functions. Up to 1000.
  OperatorNames custom_operators;
  std::vector<OnnxValue> inputs;  // without constants
  std::vector<OnnxValue> outputs;
  std::map<std::string, std::string> texts;  // metadata_props
};

// The name of a number of TensorProto.DataType: "float"; "type 99".
std::string onnx_type_text(int type);

// `bytes`: the file. Throws std::runtime_error, whose sentence tells why, when they are no ONNX
// model, or when weights are in other files.
OnnxContents read_onnx(std::string_view bytes);

// Takes the input's layout from the graph, and its size where the graph has a fixed one. A graph
// that takes bytes gets those of the picture, whatever mean and deviation are stated; signed ones
// are 128 less. `described`: the size in `spec` is that of metadata, which must be the graph's.
// Throws std::runtime_error, whose sentence tells why, when the model takes something else than one
// picture of three channels in floats or bytes, or the sizes differ.
void take_input(const OnnxContents& contents, bool described, ModelSpec& spec);

}  // namespace lookout
