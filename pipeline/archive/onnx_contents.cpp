#include "pipeline/archive/onnx_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "pipeline/archive/onnx_fields.h"
#include "pipeline/core/text.h"

namespace lookout {
namespace {

using onnx::AttributeField;
using onnx::delimited;
using onnx::DimField;
using onnx::FunctionField;
using onnx::GraphField;
using onnx::Message;
using onnx::ModelField;
using onnx::NodeField;
using onnx::OpsetField;
using onnx::ShapeField;
using onnx::TensorField;
using onnx::TensorTypeField;
using onnx::TextField;
using onnx::TypeField;
using onnx::ValueField;
using onnx::varint;

constexpr std::size_t kMaxCustomOperators = 1000;
constexpr int kMaxNesting = 100;  // of graphs in nodes

// Whether neither ONNX nor ONNX Runtime defines its operators.
bool is_custom_domain(std::string_view domain) {
  constexpr std::array<std::string_view, 5> kOwn{"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training",
                                                 "ai.onnx.preview.training"};
  return std::find(kOwn.begin(), kOwn.end(), domain) == kOwn.end() &&
         !starts_with(domain, "com.microsoft") && !starts_with(domain, "com.ms.internal");
}

struct Tensor {
  std::string name;
  int type = 0;
  bool scalar = true;
  std::uint64_t elements = 1;
  std::uint64_t bytes = 0;  // of raw data
  bool external = false;
};

std::uint64_t times(std::uint64_t a, std::int64_t b) {
  const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(0, b));
  if (factor != 0 && a > std::numeric_limits<std::uint64_t>::max() / factor) {
    throw std::runtime_error("a tensor is too large");
  }
  return a * factor;
}

Tensor read_tensor(Message<TensorField> message) {
  Tensor tensor;
  const auto add_dim = [&tensor](std::int64_t dim) {
    tensor.scalar = false;
    tensor.elements = times(tensor.elements, dim);
  };
  while (message.next()) {
    switch (message.tag_and_type()) {
      case delimited(TensorField::kDims):
        for (const std::int64_t dim : message.get_packed_int64()) add_dim(dim);
        break;
      case varint(TensorField::kDims):
        add_dim(message.get_int64());
        break;
      case varint(TensorField::kDataType):
        tensor.type = message.get_int32();
        break;
      case delimited(TensorField::kName):
        tensor.name = message.get_string();
        break;
      case delimited(TensorField::kRawData):
        tensor.bytes = message.get_view().size();
        break;
      case varint(TensorField::kDataLocation):
        tensor.external = message.get_enum() == onnx::kExternal;
        break;
      default:
        message.skip();
    }
  }
  return tensor;
}

struct Node {
  std::string type;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Tensor> tensors;              // of attributes
  std::vector<Message<GraphField>> graphs;  // of attributes
};

void read_attribute(Message<AttributeField> message, Node& node) {
  while (message.next()) {
    switch (message.tag_and_type()) {
      case delimited(AttributeField::kTensor):
        node.tensors.push_back(read_tensor(Message<TensorField>(message.get_message())));
        break;
      case delimited(AttributeField::kGraph):
      case delimited(AttributeField::kGraphs):
        node.graphs.emplace_back(message.get_message());
        break;
      default:
        message.skip();
    }
  }
}

Node read_node(Message<NodeField> message) {
  Node node;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case delimited(NodeField::kInput):
        node.inputs.push_back(message.get_string());
        break;
      case delimited(NodeField::kOutput):
        node.outputs.push_back(message.get_string());
        break;
      case delimited(NodeField::kOpType):
        node.type = message.get_string();
        break;
      case delimited(NodeField::kDomain):
        node.domain = message.get_string();
        break;
      case delimited(NodeField::kAttribute):
        read_attribute(Message<AttributeField>(message.get_message()), node);
        break;
      default:
        message.skip();
    }
  }
  return node;
}

std::vector<std::int64_t> read_shape(Message<ShapeField> message) {
  std::vector<std::int64_t> dims;
  while (message.next(ShapeField::kDim, protozero::pbf_wire_type::length_delimited)) {
    std::int64_t size = -1;
    Message<DimField> dim(message.get_message());
    while (dim.next(DimField::kValue, protozero::pbf_wire_type::varint)) size = dim.get_int64();
    dims.push_back(size);
  }
  return dims;
}

void read_type(Message<TypeField> message, OnnxValue& value) {
  while (message.next(TypeField::kTensor, protozero::pbf_wire_type::length_delimited)) {
    Message<TensorTypeField> tensor(message.get_message());
    while (tensor.next()) {
      if (tensor.tag_and_type() == varint(TensorTypeField::kElement)) {
        value.type = onnx_type_text(tensor.get_int32());
      } else if (tensor.tag_and_type() == delimited(TensorTypeField::kShape)) {
        value.dims = read_shape(Message<ShapeField>(tensor.get_message()));
      } else {
        tensor.skip();
      }
    }
  }
}

OnnxValue read_value(Message<ValueField> message) {
  OnnxValue value;
  value.type = "no tensor";
  while (message.next()) {
    if (message.tag_and_type() == delimited(ValueField::kName)) {
      value.name = message.get_string();
    } else if (message.tag_and_type() == delimited(ValueField::kType)) {
      read_type(Message<TypeField>(message.get_message()), value);
    } else {
      message.skip();
    }
  }
  return value;
}

// What is told of a graph comes out once all of it was read: its parts refer to each other.
class Graph {
 public:
  explicit Graph(OnnxContents& contents) : contents_(contents) {}

  void read(Message<GraphField> message) {
    while (message.next()) {
      switch (message.tag_and_type()) {
        case delimited(GraphField::kNode):
          add(read_node(Message<NodeField>(message.get_message())));
          break;
        case delimited(GraphField::kInitializer):
          add(read_tensor(Message<TensorField>(message.get_message())));
          break;
        case delimited(GraphField::kInput):
          contents_.inputs.push_back(read_value(Message<ValueField>(message.get_message())));
          break;
        case delimited(GraphField::kOutput):
          contents_.outputs.push_back(read_value(Message<ValueField>(message.get_message())));
          break;
        default:
          message.skip();
      }
    }
  }

  // One of the model's own functions, in which operators may be used.
  void read(Message<FunctionField> message) {
    std::string name;
    std::string domain;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case delimited(FunctionField::kNode):
          add_custom_operators(read_node(Message<NodeField>(message.get_message())), 0);
          break;
        case delimited(FunctionField::kName):
          name = message.get_string();
          break;
        case delimited(FunctionField::kDomain):
          domain = message.get_string();
          break;
        default:
          message.skip();
      }
    }
    functions_.insert(domain + "::" + name);
  }

  void finish() {
    for (const std::string& name : functions_) contents_.custom_operators.erase(name);
    for (const auto& [name, tensor] : constants_) {
      const bool weights =
          tensor.type != onnx::kInt64 && tensor.type != onnx::kBool && !tensor.scalar;
      if (weights && scales_.count(name) == 0) contents_.parameters += tensor.elements;
    }
    // Until IR version 4 all constants were among the inputs.
    auto& inputs = contents_.inputs;
    inputs.erase(std::remove_if(
                     inputs.begin(), inputs.end(),
                     [this](const OnnxValue& input) { return constants_.count(input.name) != 0; }),
                 inputs.end());
    contents_.activations = activations();
  }

 private:
  void add(Tensor tensor) {
    if (tensor.external) {
      throw std::runtime_error(
          "its weights are in another file (external data), which is not supported; save it as one "
          "file, with onnx.save(onnx.load(FILE), NEW_FILE)");
    }
    contents_.weight_bytes += tensor.bytes;
    std::string name = tensor.name;
    constants_[std::move(name)] = std::move(tensor);
  }

  // Of a node and of the graphs in it.
  void add_custom_operators(const Node& node, int nesting) {
    if (nesting > kMaxNesting) throw std::runtime_error("its graphs are nested too deeply");
    OperatorNames& names = contents_.custom_operators;
    if (is_custom_domain(node.domain) && names.size() < kMaxCustomOperators) {
      names.insert(node.domain + "::" + node.type);
    }
    for (Message<GraphField> graph : node.graphs) {
      while (graph.next(GraphField::kNode, protozero::pbf_wire_type::length_delimited)) {
        add_custom_operators(read_node(Message<NodeField>(graph.get_message())), nesting + 1);
      }
    }
  }

  void add(Node node) {
    add_custom_operators(node, 0);
    ++contents_.operators[node.type];
    for (Tensor& tensor : node.tensors) {
      if (node.type == "Constant" && !node.outputs.empty()) tensor.name = node.outputs.front();
      add(std::move(tensor));
    }
    const bool quantizes = node.type == "QuantizeLinear";
    if (quantizes || node.type == "DequantizeLinear") {
      for (std::size_t i = 1; i < node.inputs.size(); ++i) scales_.insert(node.inputs[i]);
    }
    if (quantizes && !node.inputs.empty()) quantizations_.push_back(node.inputs);
  }

  // The first value that is quantized and no weight decides.
  std::string activations() const {
    for (const auto& inputs : quantizations_) {
      if (constants_.count(inputs.front()) != 0) continue;
      const auto zero = inputs.size() > 2 ? constants_.find(inputs[2]) : constants_.end();
      const bool is_signed = zero != constants_.end() && zero->second.type == onnx::kInt8;
      return is_signed ? "qint8" : "quint8";
    }
    return contents_.operators.count("DynamicQuantizeLinear") != 0 ? "quint8" : "float32";
  }

  OnnxContents& contents_;
  std::map<std::string, Tensor> constants_;
  OperatorNames functions_;                              // the model's own
  std::set<std::string> scales_;                         // names of scales and zero points
  std::vector<std::vector<std::string>> quantizations_;  // inputs of each
};

void read_opset(Message<OpsetField> message, OnnxContents& contents) {
  std::string domain;
  std::int64_t version = 0;
  while (message.next()) {
    if (message.tag_and_type() == delimited(OpsetField::kDomain)) {
      domain = message.get_string();
    } else if (message.tag_and_type() == varint(OpsetField::kVersion)) {
      version = message.get_int64();
    } else {
      message.skip();
    }
  }
  if (domain.empty() || domain == "ai.onnx") contents.opset = version;
}

void read_text(Message<TextField> message, OnnxContents& contents) {
  std::string key;
  std::string value;
  while (message.next()) {
    if (message.tag_and_type() == delimited(TextField::kKey)) {
      key = message.get_string();
    } else if (message.tag_and_type() == delimited(TextField::kValue)) {
      value = message.get_string();
    } else {
      message.skip();
    }
  }
  contents.texts[std::move(key)] = std::move(value);
}

OnnxContents read_model(Message<ModelField> message) {
  OnnxContents contents;
  Graph graph(contents);
  std::string version;
  bool has_graph = false;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case delimited(ModelField::kProducerName):
        contents.producer = message.get_string();
        break;
      case delimited(ModelField::kProducerVersion):
        version = message.get_string();
        break;
      case delimited(ModelField::kGraph):
        graph.read(Message<GraphField>(message.get_message()));
        has_graph = true;
        break;
      case delimited(ModelField::kFunctions):
        graph.read(Message<FunctionField>(message.get_message()));
        break;
      case delimited(ModelField::kOpsetImport):
        read_opset(Message<OpsetField>(message.get_message()), contents);
        break;
      case delimited(ModelField::kMetadataProps):
        read_text(Message<TextField>(message.get_message()), contents);
        break;
      default:
        message.skip();
    }
  }
  if (!has_graph) throw std::runtime_error("it has no graph");
  if (contents.opset == 0) throw std::runtime_error("it has no opset");
  if (!version.empty()) contents.producer += " " + version;
  graph.finish();
  return contents;
}

// ---- The description of the model

std::string shape_text(const OnnxValue& value) {
  std::string text;
  for (const std::int64_t dim : value.dims) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dim < 0 ? "any" : std::to_string(dim));
  }
  return fmt::format("{} [{}]", value.type, text);
}

[[noreturn]] void refuse_input(const OnnxValue& input) {
  throw std::runtime_error(
      fmt::format("its input is {}, but a classifier takes floats [1, 3, height, width] or "
                  "[1, height, width, 3], where the first may be any, or such bytes",
                  shape_text(input)));
}

bool is_bytes(const OnnxValue& input) { return input.type == "uint8" || input.type == "int8"; }

// Throws for what is no picture.
TensorLayout layout_of(const OnnxValue& input) {
  const std::vector<std::int64_t>& dims = input.dims;
  const bool numbers = is_bytes(input) || input.type == "float" || input.type == "float16" ||
                       input.type == "bfloat16" || input.type == "double";
  if (!numbers || dims.size() != 4 || (dims[0] != 1 && dims[0] != -1)) refuse_input(input);
  const bool planar = dims[1] == 3;
  if (!planar && dims[3] != 3) refuse_input(input);
  const bool is_size = std::all_of(dims.begin() + 1, dims.end(), [](std::int64_t size) {
    return size != 0 && size <= kMaxInputSide;
  });
  if (!is_size) refuse_input(input);
  return planar ? TensorLayout::kPlanar : TensorLayout::kChannelsLast;
}

// Of one side; `graph`: -1 if it may be any.
void take_side(const char* name, std::int64_t graph, bool described, int& side) {
  if (graph < 0 || graph == side) return;
  if (described) {
    throw std::runtime_error(fmt::format(
        "its metadata says that the {} is {}, but its input has {}", name, side, graph));
  }
  side = static_cast<int>(graph);
}

}  // namespace

std::string onnx_type_text(int type) {
  static constexpr const char* kNames[] = {"undefined",  "float",   "uint8",  "int8",   "uint16",
                                           "int16",      "int32",   "int64",  "string", "bool",
                                           "float16",    "double",  "uint32", "uint64", "complex64",
                                           "complex128", "bfloat16"};
  const auto index = static_cast<std::size_t>(type);
  return type >= 0 && index < std::size(kNames) ? kNames[index] : "type " + std::to_string(type);
}

OnnxContents read_onnx(std::string_view bytes) {
  try {
    return read_model(Message<ModelField>(bytes.data(), bytes.size()));
  } catch (const protozero::exception& error) {
    throw std::runtime_error(std::string("it is damaged or cut: ") + error.what());
  }
}

void take_input(const OnnxContents& contents, bool described, ModelSpec& spec) {
  if (contents.inputs.size() != 1) {
    throw std::runtime_error(
        fmt::format("it takes {} inputs, but a classifier takes one", contents.inputs.size()));
  }
  const OnnxValue& value = contents.inputs.front();
  InputSpec& input = spec.input;
  input.layout = layout_of(value);
  const bool planar = input.layout == TensorLayout::kPlanar;
  const std::int64_t height = value.dims[planar ? 2 : 1];
  const std::int64_t width = value.dims[planar ? 3 : 2];
  take_side("height", height, described, input.height);
  take_side("width", width, described, input.width);
  if (height > 0 && width > 0) spec.assumed.size = false;
  if (is_bytes(value)) {
    const float first = value.type == "int8" ? 128.0F : 0.0F;
    input.mean.fill(first / 255);
    input.std.fill(1.0F / 255);
    spec.assumed.mean = spec.assumed.std = false;
  }
}

}  // namespace lookout
