// The nodes of an ONNX file, as far as a reader wants to see them. Nothing of it runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/archive/onnx_contents.h"

namespace lookout {

// All texts are those of the file and may hold any bytes; of long ones there is the beginning.
struct OnnxNodeText {
  std::string graph;  // empty: the model's; "If_3.then_branch": of a node; "acme::f": a function
  std::string name;   // empty: it has none
  std::string type;   // "Conv", or with its domain "com.microsoft::FusedConv"
  std::vector<std::string> inputs;  // an empty one is left out
  std::vector<std::string> outputs;
  // Names and values: "[3, 3]", "1e-05", "\"same\"", "float [64, 3, 7, 7]", "graph".
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxValue> constants;  // initializers
  std::vector<OnnxNodeText> nodes;   // in the file's order; those of a graph in a node behind it
};

// `bytes`: the file. Throws std::runtime_error, whose sentence tells why, when they are no ONNX
// model, or have more than 100,000 nodes or constants.
OnnxGraph read_onnx_graph(std::string_view bytes);

}  // namespace lookout
