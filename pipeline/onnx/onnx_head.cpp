#include "pipeline/onnx/onnx_head.h"

#include <algorithm>
#include <cstdint>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pipeline/archive/onnx_fields.h"

namespace lookout {
namespace {

using onnx::AttributeField;
using onnx::DimField;
using onnx::GraphField;
using onnx::ModelField;
using onnx::NodeField;
using onnx::ShapeField;
using onnx::TensorField;
using onnx::TensorTypeField;
using onnx::TextField;
using onnx::TypeField;
using onnx::ValueField;
using protozero::pbf_reader;

template <typename Field>
using Writer = protozero::pbf_builder<Field>;

// A field as it is written, with its number.
struct Field {
  template <typename Name>
  bool is(Name name) const {
    return number == static_cast<onnx::Number>(name);
  }

  onnx::Number number = 0;
  bool is_bytes = false;
  std::string_view content;  // of bytes
  std::string_view whole;
};

std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> fields;
  pbf_reader reader(message.data(), message.size());
  const char* begin = message.data();
  while (reader.next()) {
    Field field;
    field.number = reader.tag();
    field.is_bytes = reader.wire_type() == protozero::pbf_wire_type::length_delimited;
    if (field.is_bytes) {
      const protozero::data_view view = reader.get_view();
      field.content = {view.data(), view.size()};
    } else {
      reader.skip();
    }
    const char* end = reader.data().data();
    field.whole = {begin, static_cast<std::size_t>(end - begin)};
    begin = end;
    fields.push_back(field);
  }
  return fields;
}

template <typename Name>
std::vector<std::string> texts_of(std::string_view message, Name name) {
  std::vector<std::string> texts;
  for (const Field& field : fields_of(message)) {
    if (field.is(name) && field.is_bytes) texts.emplace_back(field.content);
  }
  return texts;
}

// Writes nodes behind the features.
class Head {
 public:
  Head(std::string& graph, const TrainedModel& model) : graph_(graph), model_(model) {}

  // As TorchTrainer's forward().
  void write() {
    const auto width = static_cast<std::int64_t>(model_.head.weights.size() / model_.head.outputs);
    add_direction(kFeatures, width, "direction");
    add_scores(width);
    if (model_.detector.of_profiles) add_profile();
    add_unknown(static_cast<std::int64_t>(model_.detector.examples.width()));
    const auto classes = static_cast<std::int64_t>(model_.classes);
    std::vector<std::int64_t> kept(model_.classes);
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<std::int64_t>(i);
    integers("kept", kept);
    node("Gather", {"scores", "kept"}, "classes", "axis");
    node("Sub", {scalar("one", 1), "unknown"}, "known");
    node("Mul", {"classes", "known"}, "scores of classes");
    floats("ones of classes", {classes, 1}, std::vector<float>(model_.classes, 1));
    node("MatMul", {"scores of classes", "ones of classes"}, "sum");
    node("Sub", {"one", "sum"}, "difference");
    node("Max", {"difference", scalar("zero", 0)}, "rest");
    node("Concat", {"scores of classes", "rest"}, kLogits, "axis");
    value(kLogits, static_cast<std::int64_t>(model_.classes) + 1);
    if (model_.detector.of_profiles) {
      value(kBaseScores, static_cast<std::int64_t>(model_.detector.examples.width()));
    }
  }

 private:
  static std::string named(const std::string& name) {
    const bool is_whole = name == kLogits || name == kFeatures || name == kBaseScores;
    return is_whole ? name : "lookout/" + name;
  }

  // The direction of a row of `width` numbers.
  void add_direction(const std::string& row, std::int64_t width, const std::string& direction) {
    const std::string of = " of " + direction;
    node("Mul", {row, row}, "squares" + of);
    floats("ones" + of, {width, 1}, std::vector<float>(static_cast<std::size_t>(width), 1));
    node("MatMul", {"squares" + of, "ones" + of}, "square of the length" + of);
    node("Sqrt", {"square of the length" + of}, "length" + of);
    node("Max", {"length" + of, scalar("least length" + of, 1e-12F)}, "divisor" + of);
    node("Div", {row, "divisor" + of}, direction);
  }

  // As profile_of().
  void add_profile() {
    const std::size_t classes = model_.detector.examples.width();
    floats("mean of base scores", {static_cast<std::int64_t>(classes), 1},
           std::vector<float>(classes, 1.0F / static_cast<float>(classes)));
    node("MatMul", {kBaseScores, "mean of base scores"}, "center");
    node("Sub", {kBaseScores, "center"}, "centered");
    node("Mul", {"centered", "centered"}, "centered squares");
    node("MatMul", {"centered squares", "mean of base scores"}, "variance");
    node("Sqrt", {"variance"}, "deviation");
    node("Max", {"deviation", scalar("least deviation", 1e-12F)}, "scale");
    node("Div", {"centered", "scale"}, "deviations");
    node("Sub", {"deviations", scalar("one deviation", 1)}, "above one deviation");
    node("Max", {"above one deviation", scalar("no deviation", 0)}, "what stands out");
    add_direction("what stands out", static_cast<std::int64_t>(classes), "profile");
  }

  void add_scores(std::int64_t width) {
    const auto outputs = static_cast<std::int64_t>(model_.head.outputs);
    floats("weights", {width, outputs}, transposed(model_.head.weights, model_.head.outputs));
    floats("biases", {outputs}, model_.head.biases);
    node("MatMul", {"direction", "weights"}, "products");
    node("Add", {"products", "biases"}, "scores before softmax");
    node("Softmax", {"scores before softmax"}, "scores", "axis");
  }

  void add_unknown(std::int64_t width) {
    const OodDetector& detector = model_.detector;
    const std::size_t count = detector.examples.size();
    const std::size_t neighbours = std::min(detector.neighbours, count);
    floats("examples", {width, static_cast<std::int64_t>(count)},
           transposed(detector.examples.values(), count));
    node("MatMul", {detector.of_profiles ? "profile" : "direction", "examples"}, "cosines");
    integers("neighbours", {static_cast<std::int64_t>(neighbours)});
    node("TopK", {"cosines", "neighbours"}, "nearest", "axis", "places of the nearest");
    floats("mean", {static_cast<std::int64_t>(neighbours), 1},
           std::vector<float>(neighbours, 1.0F / static_cast<float>(neighbours)));
    node("MatMul", {"nearest", "mean"}, "similarity");
    node("Sub", {scalar("threshold", detector.threshold), "similarity"}, "distance");
    node("Mul", {"distance", scalar("steepness", detector.steepness)}, "unknown logit");
    node("Sigmoid", {"unknown logit"}, "unknown");
  }

  static std::vector<float> transposed(const std::vector<float>& values, std::size_t rows) {
    const std::size_t columns = values.size() / rows;
    std::vector<float> turned;
    turned.reserve(values.size());
    for (std::size_t column = 0; column < columns; ++column) {
      for (std::size_t row = 0; row < rows; ++row) turned.push_back(values[row * columns + column]);
    }
    return turned;
  }

  // `axis`: the name of an attribute that is 1; null: none.
  void node(const char* type, const std::vector<std::string>& inputs, const std::string& output,
            const char* axis = nullptr, const char* second_output = nullptr) {
    Writer<GraphField> graph(graph_);
    Writer<NodeField> node(graph, GraphField::kNode);
    for (const std::string& input : inputs) node.add_string(NodeField::kInput, named(input));
    node.add_string(NodeField::kOutput, named(output));
    if (second_output != nullptr) node.add_string(NodeField::kOutput, named(second_output));
    node.add_string(NodeField::kName, "lookout/" + output);
    node.add_string(NodeField::kOpType, type);
    if (axis == nullptr) return;
    Writer<AttributeField> attribute(node, NodeField::kAttribute);
    attribute.add_string(AttributeField::kName, axis);
    attribute.add_int64(AttributeField::kInt, 1);
    attribute.add_enum(AttributeField::kType, onnx::kInt);
  }

  std::string scalar(const std::string& name, float constant) {
    floats(name, {}, {constant});
    return name;
  }

  void floats(const std::string& name, const std::vector<std::int64_t>& dims,
              const std::vector<float>& values) {
    tensor(name, onnx::kFloat, dims, values.data(), values.size() * sizeof(float));
  }

  void integers(const std::string& name, const std::vector<std::int64_t>& values) {
    tensor(name, onnx::kInt64, {static_cast<std::int64_t>(values.size())}, values.data(),
           values.size() * sizeof(std::int64_t));
  }

  void tensor(const std::string& name, int type, const std::vector<std::int64_t>& dims,
              const void* values, std::size_t bytes) {
    Writer<GraphField> graph(graph_);
    Writer<TensorField> tensor(graph, GraphField::kInitializer);
    tensor.add_packed_int64(TensorField::kDims, dims.begin(), dims.end());
    tensor.add_int32(TensorField::kDataType, type);
    tensor.add_string(TensorField::kName, named(name));
    tensor.add_bytes(TensorField::kRawData, static_cast<const char*>(values), bytes);
  }

  // An output of floats, [any, size].
  void value(const char* name, std::int64_t size) {
    Writer<GraphField> graph(graph_);
    Writer<ValueField> value(graph, GraphField::kOutput);
    value.add_string(ValueField::kName, name);
    Writer<TypeField> type(value, ValueField::kType);
    Writer<TensorTypeField> tensor(type, TypeField::kTensor);
    tensor.add_int32(TensorTypeField::kElement, onnx::kFloat);
    Writer<ShapeField> shape(tensor, TensorTypeField::kShape);
    Writer<DimField>(shape, ShapeField::kDim).add_string(DimField::kName, "batch");
    Writer<DimField>(shape, ShapeField::kDim).add_int64(DimField::kValue, size);
  }

  std::string& graph_;
  const TrainedModel& model_;
};

bool is_one_of(const std::set<std::string>& needed, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&needed](const std::string& name) { return needed.count(name) != 0; });
}

// Names of all values that lead to `needed`, and these. Nodes come in the order of computation.
std::set<std::string> needed_values(const std::vector<Field>& graph, std::set<std::string> needed) {
  for (auto field = graph.rbegin(); field != graph.rend(); ++field) {
    if (!field->is(GraphField::kNode)) continue;
    if (!is_one_of(needed, texts_of(field->content, NodeField::kOutput))) continue;
    for (std::string& input : texts_of(field->content, NodeField::kInput))
      needed.insert(std::move(input));
  }
  return needed;
}

bool is_kept(const Field& field, const std::set<std::string>& needed) {
  if (field.is(GraphField::kNode)) {
    return is_one_of(needed, texts_of(field.content, NodeField::kOutput));
  }
  if (field.is(GraphField::kInitializer)) {
    return is_one_of(needed, texts_of(field.content, TensorField::kName));
  }
  if (field.is(GraphField::kOutput)) {
    return texts_of(field.content, ValueField::kName) == std::vector<std::string>{kFeatures};
  }
  return true;
}

bool has_output(const std::vector<Field>& graph, const char* name) {
  return std::any_of(graph.begin(), graph.end(), [name](const Field& field) {
    return field.is(GraphField::kOutput) &&
           texts_of(field.content, ValueField::kName) == std::vector<std::string>{name};
  });
}

// Appends the node with the value kLogits under its new name: the graph gets another kLogits.
void append_renamed(const Field& field, std::string& graph) {
  std::string node;
  for (const Field& part : fields_of(field.content)) {
    const bool is_name = part.is(NodeField::kInput) || part.is(NodeField::kOutput);
    if (is_name && part.content == kLogits) {
      Writer<NodeField>(node).add_string(static_cast<NodeField>(part.number), kBaseScores);
    } else {
      node += part.whole;
    }
  }
  Writer<GraphField>(graph).add_message(GraphField::kNode, node);
}

std::string graph_with_head(std::string_view base, const TrainedModel& model) {
  const std::vector<Field> fields = fields_of(base);
  std::set<std::string> needed{kFeatures};
  const bool has_base_scores = has_output(fields, kBaseScores);
  if (model.detector.of_profiles) needed.insert(has_base_scores ? kBaseScores : kLogits);
  needed = needed_values(fields, std::move(needed));
  std::string graph;
  for (const Field& field : fields) {
    if (!is_kept(field, needed)) continue;
    if (field.is(GraphField::kNode)) {
      append_renamed(field, graph);
    } else {
      graph += field.whole;
    }
  }
  Head(graph, model).write();
  return graph;
}

std::string model_with_head(std::string_view base, const TrainedModel& model,
                            const std::map<std::string, std::string>& texts) {
  std::string bytes;
  for (const Field& field : fields_of(base)) {
    if (field.is(ModelField::kGraph)) {
      Writer<ModelField>(bytes).add_message(ModelField::kGraph,
                                            graph_with_head(field.content, model));
    } else if (!field.is(ModelField::kMetadataProps)) {
      bytes += field.whole;
    }
  }
  Writer<ModelField> writer(bytes);
  for (const auto& [key, value] : texts) {
    Writer<TextField> text(writer, ModelField::kMetadataProps);
    text.add_string(TextField::kKey, key);
    text.add_string(TextField::kValue, value);
  }
  return bytes;
}

// The node that makes a value; null: none does.
const Field* maker_of(const std::vector<Field>& graph, const std::string& value) {
  const auto found = std::find_if(graph.begin(), graph.end(), [&value](const Field& field) {
    return field.is(GraphField::kNode) &&
           is_one_of({value}, texts_of(field.content, NodeField::kOutput));
  });
  return found == graph.end() ? nullptr : &*found;
}

std::string type_of(const Field& node) { return texts_of(node.content, NodeField::kOpType).at(0); }

// Whether an attribute of the node, by its name, is 1.
bool is_set(const Field& node, std::string_view name) {
  for (const Field& field : fields_of(node.content)) {
    if (!field.is(NodeField::kAttribute)) continue;
    if (texts_of(field.content, AttributeField::kName) !=
        std::vector<std::string>{std::string(name)})
      continue;
    protozero::pbf_message<AttributeField> attribute(field.content.data(), field.content.size());
    while (attribute.next(AttributeField::kInt)) return attribute.get_int64() == 1;
  }
  return false;
}

// The linear layer behind which only a bias and quantization come; null: there is none.
const Field* linear_layer(const std::vector<Field>& graph, const std::string& scores) {
  static const std::set<std::string> passed{"Add", "QuantizeLinear", "DequantizeLinear"};
  const Field* node = maker_of(graph, scores);
  while (node != nullptr && passed.count(type_of(*node)) > 0) {
    node = maker_of(graph, texts_of(node->content, NodeField::kInput).at(0));
  }
  const bool is_linear =
      node != nullptr && (type_of(*node) == "Gemm" || type_of(*node) == "MatMul");
  return is_linear ? node : nullptr;
}

std::string graph_of_value(const std::vector<Field>& fields, const std::string& value) {
  const std::set<std::string> needed = needed_values(fields, {value});
  std::string graph;
  for (const Field& field : fields) {
    if (!field.is(GraphField::kOutput) && is_kept(field, needed)) graph += field.whole;
  }
  Writer<GraphField> writer(graph);
  {
    Writer<NodeField> node(writer, GraphField::kNode);
    node.add_string(NodeField::kInput, value);
    node.add_string(NodeField::kOutput, kWeights);
    node.add_string(NodeField::kOpType, "Identity");
  }
  Writer<ValueField> output(writer, GraphField::kOutput);
  output.add_string(ValueField::kName, kWeights);
  Writer<TypeField> type(output, ValueField::kType);
  Writer<TensorTypeField>(type, TypeField::kTensor)
      .add_int32(TensorTypeField::kElement, onnx::kFloat);
  return graph;
}

}  // namespace

std::string with_head(std::string_view base, const TrainedModel& model,
                      const std::map<std::string, std::string>& texts) {
  try {
    return model_with_head(base, model, texts);
  } catch (const protozero::exception& error) {
    throw std::runtime_error(std::string("it is damaged or cut: ") + error.what());
  }
}

std::optional<LastWeights> last_weights(std::string_view base, const char* scores) {
  LastWeights weights;
  for (const Field& field : fields_of(base)) {
    if (!field.is(ModelField::kGraph)) {
      weights.model += field.whole;
      continue;
    }
    const std::vector<Field> graph = fields_of(field.content);
    const Field* layer = linear_layer(graph, scores);
    if (layer == nullptr) return std::nullopt;
    weights.columns = type_of(*layer) == "MatMul" || !is_set(*layer, "transB");
    const std::string value = texts_of(layer->content, NodeField::kInput).at(1);
    Writer<ModelField>(weights.model).add_message(ModelField::kGraph, graph_of_value(graph, value));
  }
  return weights;
}

}  // namespace lookout
