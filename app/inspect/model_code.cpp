#include "app/inspect/model_code.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <vector>

#include "app/report/json.h"
#include "pipeline/archive/onnx_graph.h"
#include "pipeline/archive/torch_code.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/printable.h"
#include "pipeline/results/format.h"

namespace lookout {
namespace {

Json file_json(const char* type, const ModelArchive& archive) {
  return {{"schema", 1},
          {"type", type},
          {"file", archive.path().string()},
          {"sha256", archive.sha256()}};
}

// Line by line, so that lines stay lines.
void append_lines(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    append_printable(text.substr(0, end), out);
    out += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string shape_text(const OnnxValue& value) {
  std::string dims;
  for (const std::int64_t dim : value.dims) {
    append_format(dims, "{}{}", dims.empty() ? "" : ", ", dim < 0 ? "?" : std::to_string(dim));
  }
  return fmt::format("{} [{}]", value.type, dims);
}

void append_values(const char* title, const std::vector<OnnxValue>& values, std::string& out) {
  append_format(out, "{}:\n", title);
  for (const OnnxValue& value : values) {
    append_format(out, "  {}  {}\n", printable(value.name), shape_text(value));
  }
}

// In the syntax of ONNX's own text format: y = Conv <pads = [1, 1]> (x, weight).
std::string node_text(const OnnxNodeText& node) {
  std::string attributes;
  for (const auto& [name, value] : node.attributes) {
    append_format(attributes, "{}{} = {}", attributes.empty() ? " <" : ", ", name, value);
  }
  if (!attributes.empty()) attributes += '>';
  return fmt::format("{} = {}{} ({}){}{}", joined(node.outputs, ", "), node.type, attributes,
                     joined(node.inputs, ", "), node.name.empty() ? "" : "  # ", node.name);
}

void append_nodes(const OnnxGraph& graph, std::string& out) {
  const std::string* where = nullptr;
  for (const OnnxNodeText& node : graph.nodes) {
    if (where == nullptr || *where != node.graph) {
      const std::string of = node.graph.empty() ? "" : " of " + printable(node.graph);
      append_format(out, "nodes{}:\n", of);
      where = &node.graph;
    }
    append_format(out, "  {}\n", printable(node_text(node)));
  }
}

std::string graph_text(const OnnxContents& contents, const OnnxGraph& graph) {
  std::string text = fmt::format(
      "graph {}: opset {}, {} nodes{}\n", printable(graph.name), contents.opset, graph.nodes.size(),
      contents.producer.empty() ? "" : ", written by " + printable(contents.producer));
  append_values("inputs", contents.inputs, text);
  append_values("outputs", contents.outputs, text);
  append_values("constants", graph.constants, text);
  append_nodes(graph, text);
  return text;
}

Json nodes_json(const OnnxGraph& graph) {
  Json json = Json::array();
  for (const OnnxNodeText& node : graph.nodes) {
    Json attributes = Json::object();
    for (const auto& [name, value] : node.attributes) attributes[name] = value;
    json.push_back({{"graph", node.graph},
                    {"name", node.name},
                    {"operator", node.type},
                    {"inputs", node.inputs},
                    {"outputs", node.outputs},
                    {"attributes", std::move(attributes)}});
  }
  return json;
}

// What `inspect` shows of the inside of an engine's models.
const char* view_of(Engine engine) {
  switch (engine) {
    case Engine::kTorch:
      return "is a TorchScript archive, which has code; --code shows it";
    case Engine::kOnnxRuntime:
      return "is an ONNX model, which has no code; --graph shows its nodes";
  }
  return "";
}

}  // namespace

Json values_json(const std::vector<OnnxValue>& values) {
  Json json = Json::array();
  for (const OnnxValue& value : values) {
    json.push_back({{"name", value.name}, {"type", value.type}, {"shape", value.dims}});
  }
  return json;
}

std::string model_code(const ModelArchive& archive, Format format) {
  if (archive.engine() != Engine::kTorch) refuse_model(archive.path(), view_of(archive.engine()));
  const std::vector<TorchCodeFile> files = read_torch_code(archive);
  if (format == Format::kJson) {
    Json json = file_json("code", archive);
    json["code"] = Json::array();
    for (const TorchCodeFile& file : files) {
      json["code"].push_back({{"name", file.name}, {"text", file.text}});
    }
    return to_text(json) + "\n";
  }
  std::string text;
  for (const TorchCodeFile& file : files) {
    append_format(text, "{}# {}\n", text.empty() ? "" : "\n", printable(file.name));
    append_lines(file.text, text);
  }
  return text.empty() ? "This archive has no code.\n" : text;
}

std::string model_graph(const ModelArchive& archive, Format format) {
  if (archive.engine() != Engine::kOnnxRuntime) {
    read_contents(archive);  // says what it is, unless it is a model
    refuse_model(archive.path(), view_of(archive.engine()));
  }
  const ArchiveContents contents = read_contents(archive);
  try {
    const OnnxGraph graph = read_onnx_graph(archive.bytes());
    if (format == Format::kText) return graph_text(*contents.onnx, graph);
    Json json = file_json("graph", archive);
    json["name"] = graph.name;
    json["opset"] = contents.onnx->opset;
    json["producer"] = contents.onnx->producer;
    json["inputs"] = values_json(contents.onnx->inputs);
    json["outputs"] = values_json(contents.onnx->outputs);
    json["constants"] = values_json(graph.constants);
    json["nodes"] = nodes_json(graph);
    return to_text(json) + "\n";
  } catch (const std::runtime_error& error) {
    refuse_model(archive.path(),
                 std::string("is no ONNX model that can be shown (") + error.what() + ")");
  }
}

}  // namespace lookout
