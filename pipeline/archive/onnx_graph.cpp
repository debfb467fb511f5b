#include "pipeline/archive/onnx_graph.h"

#include <fmt/format.h>

#include <stdexcept>

#include "pipeline/archive/onnx_fields.h"

namespace lookout {
namespace {

using onnx::AttributeField;
using onnx::delimited;
using onnx::fixed32;
using onnx::FunctionField;
using onnx::GraphField;
using onnx::Message;
using onnx::ModelField;
using onnx::NodeField;
using onnx::TensorField;
using onnx::varint;

constexpr std::size_t kMaxParts = 100'000;         // nodes, and constants
constexpr std::size_t kMaxGraphNames = 1'000'000;  // of inputs, outputs and attributes
constexpr std::size_t kMaxShown = 200;             // bytes of a text
constexpr std::size_t kMaxElements = 16;           // of a list
constexpr int kMaxDepth = 100;                     // of graphs in nodes

template <typename Field>
std::string shown_text(Message<Field>& message) {
  const auto view = message.get_view();
  if (view.size() <= kMaxShown) return {view.data(), view.size()};
  return std::string(view.data(), kMaxShown) + "...";
}

// A list of which the first elements are kept.
class ListText {
 public:
  void add(const std::string& element) {
    if (++count_ > kMaxElements) return;
    text_ += (text_.empty() ? "" : ", ") + element;
  }
  std::string finish() const {
    const std::string rest =
        count_ > kMaxElements ? fmt::format(", ... ({} in all)", count_) : std::string();
    return "[" + text_ + rest + "]";
  }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

OnnxValue read_constant(Message<TensorField> message) {
  OnnxValue tensor;
  constexpr std::size_t kMaxDims = 100;
  const auto add = [&tensor](std::int64_t dim) {
    if (tensor.dims.size() < kMaxDims) tensor.dims.push_back(dim);
  };
  while (message.next()) {
    switch (message.tag_and_type()) {
      case delimited(TensorField::kDims):
        for (const std::int64_t dim : message.get_packed_int64()) add(dim);
        break;
      case varint(TensorField::kDims):
        add(message.get_int64());
        break;
      case varint(TensorField::kDataType):
        tensor.type = onnx_type_text(message.get_int32());
        break;
      case delimited(TensorField::kName):
        tensor.name = shown_text(message);
        break;
      default:
        message.skip();
    }
  }
  return tensor;
}

std::string tensor_text(const OnnxValue& tensor) {
  ListText dims;
  for (const std::int64_t dim : tensor.dims) dims.add(std::to_string(dim));
  return tensor.type + " " + dims.finish();
}

struct NodeAttribute {
  std::string name;
  std::string value;
  std::vector<Message<GraphField>> graphs;
};

// Of the forms that a value may have, one is there.
class AttributeReader {
 public:
  NodeAttribute read(Message<AttributeField> message) {
    while (message.next()) {
      if (!take_one(message) && !take_many(message)) message.skip();
    }
    if (is_list_) attribute_.value = list_.finish();
    return std::move(attribute_);
  }

 private:
  bool take_one(Message<AttributeField>& message) {
    switch (message.tag_and_type()) {
      case delimited(AttributeField::kName):
        attribute_.name = shown_text(message);
        return true;
      case fixed32(AttributeField::kFloat):
        attribute_.value = fmt::format("{}", message.get_float());
        return true;
      case varint(AttributeField::kInt):
        attribute_.value = std::to_string(message.get_int64());
        return true;
      case delimited(AttributeField::kString):
        attribute_.value = '"' + shown_text(message) + '"';
        return true;
      case delimited(AttributeField::kTensor):
        attribute_.value = tensor_text(read_constant(Message<TensorField>(message.get_message())));
        return true;
      case delimited(AttributeField::kReference):
        attribute_.value = "@" + shown_text(message);
        return true;
      default:
        return false;
    }
  }

  bool take_many(Message<AttributeField>& message) {
    switch (message.tag_and_type()) {
      case delimited(AttributeField::kGraph):
      case delimited(AttributeField::kGraphs):
        if (attribute_.graphs.size() >= kMaxParts)
          throw std::runtime_error("it has too many graphs");
        attribute_.graphs.emplace_back(message.get_message());
        attribute_.value = "graph";
        return true;
      case delimited(AttributeField::kFloats):
        for (const float value : message.get_packed_float()) add(fmt::format("{}", value));
        return true;
      case fixed32(AttributeField::kFloats):
        add(fmt::format("{}", message.get_float()));
        return true;
      case delimited(AttributeField::kInts):
        for (const std::int64_t value : message.get_packed_int64()) add(std::to_string(value));
        return true;
      case varint(AttributeField::kInts):
        add(std::to_string(message.get_int64()));
        return true;
      case delimited(AttributeField::kStrings):
        add('"' + shown_text(message) + '"');
        return true;
      default:
        return false;
    }
  }

  void add(const std::string& element) {
    is_list_ = true;
    list_.add(element);
  }

  NodeAttribute attribute_;
  ListText list_;
  bool is_list_ = false;
};

class GraphReader {
 public:
  OnnxGraph read(Message<ModelField> model) {
    bool has_graph = false;
    while (model.next()) {
      if (model.tag_and_type() == delimited(ModelField::kGraph)) {
        has_graph = true;
        read(Message<GraphField>(model.get_message()), "", 0);
      } else if (model.tag_and_type() == delimited(ModelField::kFunctions)) {
        read(Message<FunctionField>(model.get_message()));
      } else {
        model.skip();
      }
    }
    if (!has_graph) throw std::runtime_error("it has no graph");
    return std::move(graph_);
  }

 private:
  void read(Message<GraphField> message, const std::string& where, int depth) {
    if (depth > kMaxDepth) throw std::runtime_error("its graphs are nested too deeply");
    while (message.next()) {
      switch (message.tag_and_type()) {
        case delimited(GraphField::kNode):
          read(Message<NodeField>(message.get_message()), where, depth);
          break;
        case delimited(GraphField::kInitializer):
          if (graph_.constants.size() >= kMaxParts) {
            throw std::runtime_error("it has more than 100,000 constants");
          }
          graph_.constants.push_back(read_constant(Message<TensorField>(message.get_message())));
          break;
        case delimited(GraphField::kName):
          if (depth == 0) {
            graph_.name = shown_text(message);
          } else {
            message.skip();
          }
          break;
        default:
          message.skip();
      }
    }
  }

  void read(Message<FunctionField> message) {
    std::string name;
    std::string domain;
    Message<FunctionField> names = message;
    while (names.next()) {
      if (names.tag_and_type() == delimited(FunctionField::kName)) {
        name = shown_text(names);
      } else if (names.tag_and_type() == delimited(FunctionField::kDomain)) {
        domain = shown_text(names);
      } else {
        names.skip();
      }
    }
    domain.append("::").append(name);
    while (message.next(FunctionField::kNode, protozero::pbf_wire_type::length_delimited)) {
      read(Message<NodeField>(message.get_message()), domain, 0);
    }
  }

  void read(Message<NodeField> message, const std::string& where, int depth) {
    if (graph_.nodes.size() >= kMaxParts) {
      throw std::runtime_error("it has more than 100,000 nodes");
    }
    OnnxNodeText node;
    node.graph = where;
    std::string domain;
    std::vector<NodeAttribute> attributes;
    while (message.next()) {
      switch (message.tag_and_type()) {
        case delimited(NodeField::kInput):
          node.inputs.push_back(counted(message));
          break;
        case delimited(NodeField::kOutput):
          node.outputs.push_back(counted(message));
          break;
        case delimited(NodeField::kName):
          node.name = shown_text(message);
          break;
        case delimited(NodeField::kOpType):
          node.type = shown_text(message);
          break;
        case delimited(NodeField::kDomain):
          domain = shown_text(message);
          break;
        case delimited(NodeField::kAttribute):
          count_name();
          attributes.push_back(
              AttributeReader().read(Message<AttributeField>(message.get_message())));
          break;
        default:
          message.skip();
      }
    }
    if (!domain.empty() && domain != "ai.onnx") node.type = domain + "::" + node.type;
    add(std::move(node), attributes, depth);
  }

  void add(OnnxNodeText node, const std::vector<NodeAttribute>& attributes, int depth) {
    for (const NodeAttribute& attribute : attributes) {
      node.attributes.emplace_back(attribute.name, attribute.value);
    }
    const std::string name = node.name.empty() ? node.type : node.name;
    graph_.nodes.push_back(std::move(node));
    for (const NodeAttribute& attribute : attributes) {
      for (const auto& graph : attribute.graphs)
        read(graph, name + "." + attribute.name, depth + 1);
    }
  }

  void count_name() {
    if (++names_ > kMaxGraphNames) throw std::runtime_error("it has more than 1,000,000 names");
  }

  std::string counted(Message<NodeField>& message) {
    count_name();
    return shown_text(message);
  }

  OnnxGraph graph_;
  std::size_t names_ = 0;
};

}  // namespace

OnnxGraph read_onnx_graph(std::string_view bytes) {
  try {
    return GraphReader().read(Message<ModelField>(bytes.data(), bytes.size()));
  } catch (const protozero::exception& error) {
    throw std::runtime_error(std::string("it is damaged or cut: ") + error.what());
  }
}

}  // namespace lookout
