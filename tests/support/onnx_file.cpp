#include "tests/support/onnx_file.h"

#include <functional>
#include <protozero/pbf_writer.hpp>

namespace lookout {
namespace {

using protozero::pbf_writer;

// TensorProto.DataType
constexpr int kFloat = 1;
constexpr int kUint8 = 2;
constexpr int kInt8 = 3;
constexpr int kFloat16 = 10;
constexpr int kDouble = 11;
constexpr int kBfloat16 = 16;

void add_value(pbf_writer& graph, protozero::pbf_tag_type field, const std::string& name, int type,
               const std::vector<std::int64_t>& dims) {
  std::string shape;
  for (const std::int64_t size : dims) {
    std::string dim;
    pbf_writer writer(dim);
    if (size >= 0) writer.add_int64(1, size);
    if (size < 0) writer.add_string(2, "any");
    pbf_writer(shape).add_message(1, dim);
  }
  std::string tensor;
  pbf_writer tensor_writer(tensor);
  tensor_writer.add_int32(1, type);
  tensor_writer.add_message(2, shape);
  std::string type_text;
  pbf_writer(type_text).add_message(1, tensor);
  pbf_writer value(graph, field);
  value.add_string(1, name);
  value.add_message(2, type_text);
}

void add_node(pbf_writer& graph, const std::string& type, const std::vector<std::string>& inputs,
              const std::string& output, const std::string& domain = {},
              const std::vector<std::pair<std::string, float>>& attributes = {}) {
  pbf_writer node(graph, 1);
  for (const std::string& input : inputs) node.add_string(1, input);
  node.add_string(2, output);
  node.add_string(3, type + " of " + inputs.front());
  node.add_string(4, type);
  for (const auto& [name, number] : attributes) {
    pbf_writer attribute(node, 5);
    attribute.add_string(1, name);
    attribute.add_float(2, number);
    attribute.add_enum(20, 1);
  }
  if (!domain.empty()) node.add_string(7, domain);
}

// An attribute of one whole number.
void add_node(pbf_writer& graph, const std::string& type, const std::string& input,
              const std::string& output, const std::string& attribute_name, std::int64_t number) {
  pbf_writer node(graph, 1);
  node.add_string(1, input);
  node.add_string(2, output);
  node.add_string(4, type);
  pbf_writer attribute(node, 5);
  attribute.add_string(1, attribute_name);
  attribute.add_int64(3, number);
  attribute.add_enum(20, 2);
}

void add_int64s(pbf_writer& graph, const std::string& name,
                const std::vector<std::int64_t>& values) {
  const std::vector<std::int64_t> dims{static_cast<std::int64_t>(values.size())};
  pbf_writer tensor(graph, 5);
  tensor.add_packed_int64(1, dims.begin(), dims.end());
  tensor.add_int32(2, 7);
  tensor.add_string(8, name);
  tensor.add_bytes(9, reinterpret_cast<const char*>(values.data()),
                   values.size() * sizeof(std::int64_t));
}

void add_floats(pbf_writer& graph, const std::string& name, const std::vector<std::int64_t>& dims,
                const std::vector<float>& values, const std::string& external = {}) {
  pbf_writer tensor(graph, 5);
  tensor.add_packed_int64(1, dims.begin(), dims.end());
  tensor.add_int32(2, kFloat);
  tensor.add_string(8, name);
  if (external.empty()) {
    tensor.add_bytes(9, reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float));
    return;
  }
  pbf_writer location(tensor, 13);
  location.add_string(1, "location");
  location.add_string(2, external);
  location.commit();
  tensor.add_enum(14, 1);
}

bool is_cast(int type) {
  return type == kBfloat16 || type == kFloat16 || type == kDouble || type == kUint8 ||
         type == kInt8;
}

// From the image to the logits.
void add_nodes(pbf_writer& graph, const OnnxFile& file) {
  const bool casts = is_cast(file.input_type);
  if (casts) add_node(graph, "Cast", "image", "floats", "to", kFloat);
  add_node(graph, "Flatten", {casts ? "floats" : "image"}, "features");
  std::vector<std::pair<std::string, std::function<void(const std::string&, const std::string&)>>>
      steps;
  for (const std::string& type : file.after) {
    steps.emplace_back(type, [&, type](const std::string& in, const std::string& out) {
      add_node(graph, type, {in}, out, file.after_domain, file.attributes);
    });
  }
  if (!file.output.empty()) {
    add_int64s(graph, "sizes", file.output);
    steps.emplace_back("reshaped", [&](const std::string& in, const std::string& out) {
      add_node(graph, "Reshape", {in, "sizes"}, out);
    });
  }
  if (file.output_type != kFloat) {
    steps.emplace_back("cast", [&](const std::string& in, const std::string& out) {
      add_node(graph, "Cast", in, out, "to", file.output_type);
    });
  }
  std::string last = steps.empty() ? "logits" : "scores";
  add_node(graph, "Gemm", {"features", "weights", "biases"}, last);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string next = i + 1 == steps.size() ? "logits" : steps[i].first;
    steps[i].second(last, next);
    last = next;
  }
  if (file.label) add_node(graph, "ArgMax", last, "label", "axis", 1);
}

}  // namespace

OnnxFile OnnxFile::sums_of_planes() {
  OnnxFile file;
  file.weights = {{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0},
                  {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0},
                  {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}};
  file.biases = {0, 0, 0};
  return file;
}

OnnxFile OnnxFile::described() const {
  OnnxFile file = *this;
  file.texts = {{"lookout.metadata", onnx_metadata(2, 2)},
                {"lookout.labels", "red\ngreen\nblue\n"}};
  return file;
}

std::string OnnxFile::bytes() const {
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, 8);  // IR version
  model.add_string(2, "test");
  {
    pbf_writer graph(model, 7);
    add_nodes(graph, *this);
    graph.add_string(2, "graph");
    const auto labels = static_cast<std::int64_t>(weights.size());
    std::vector<float> columns;  // [values][labels]
    for (std::size_t value = 0; value < weights.front().size(); ++value) {
      for (const auto& row : weights) columns.push_back(row[value]);
    }
    add_floats(graph, "weights", {static_cast<std::int64_t>(weights.front().size()), labels},
               columns, external);
    add_floats(graph, "biases", {labels}, biases);
    add_value(graph, 11, "image", input_type, input);
    if (second_input) add_value(graph, 11, "more", kFloat, {1});
    if (label) add_value(graph, 12, "label", 7, {-1, 1});
    const std::vector<std::int64_t> row{-1, labels + more_scores};
    add_value(graph, 12, "logits", output_type, output.empty() ? row : output);
    if (features) add_value(graph, 12, "features", kFloat, {-1, -1});
  }
  {
    pbf_writer opset(model, 8);
    opset.add_string(1, "");
    opset.add_int64(2, 13);
  }
  if (!after_domain.empty()) {
    pbf_writer opset(model, 8);
    opset.add_string(1, after_domain);
    opset.add_int64(2, 1);
  }
  for (const auto& [key, value] : texts) {
    pbf_writer text(model, 14);
    text.add_string(1, key);
    text.add_string(2, value);
  }
  return bytes;
}

std::string onnx_metadata(int width, int height) {
  return R"({"name": "small", "input": {"width": )" + std::to_string(width) + R"(, "height": )" +
         std::to_string(height) +
         R"(, "mean": [0, 0, 0], "std": [1, 1, 1], "channel_order": "RGB"}, "quantization": "none",
  "producer": {}, "weights": "none", "trained": true})";
}

}  // namespace lookout
