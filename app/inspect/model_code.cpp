#include "app/inspect/model_code.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <vector>

#include "app/report/json.h"
#include "pipeline/archive/onnx_graph.h"
#include "pipeline/archive/torch_code.h"
#include "pipeline/core/append_format.h"

namespace lookout {
namespace {

Json file_json(const char* type, const ModelArchive& archive) {
  return {{"schema", 1},
          {"type", type},
          {"file", archive.path().string()},
          {"sha256", archive.sha256()}};
}

void append_lines(std::string_view text, std::vector<std::string>& lines) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
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

void append_values(const char* title, const std::vector<OnnxValue>& values,
                   std::vector<std::string>& lines) {
  lines.push_back(fmt::format("{}:", title));
  for (const OnnxValue& value : values) {
    lines.push_back(fmt::format("  {}  {}", value.name, shape_text(value)));
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

std::vector<std::string> lines_of(const OnnxContents& contents, const OnnxGraph& graph) {
  std::vector<std::string> lines{fmt::format(
      "graph {}: opset {}, {} nodes{}{}", graph.name, contents.opset, graph.nodes.size(),
      contents.producer.empty() ? "" : ", written by ", contents.producer)};
  append_values("inputs", contents.inputs, lines);
  append_values("outputs", contents.outputs, lines);
  append_values("constants", graph.constants, lines);
  const std::string* where = nullptr;
  for (const OnnxNodeText& node : graph.nodes) {
    if (where == nullptr || *where != node.graph) {
      lines.push_back(fmt::format("nodes{}{}:", node.graph.empty() ? "" : " of ", node.graph));
      where = &node.graph;
    }
    lines.push_back("  " + node_text(node));
  }
  return lines;
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

Report code_report(const ModelArchive& archive) {
  if (archive.engine() != Engine::kTorch) refuse_model(archive.path(), view_of(archive.engine()));
  Report report;
  Json json = file_json("code", archive);
  json["code"] = Json::array();
  for (const TorchCodeFile& file : read_torch_code(archive)) {
    json["code"].push_back({{"name", file.name}, {"text", file.text}});
    if (!report.head.empty()) report.head.emplace_back();
    report.head.push_back("# " + file.name);
    append_lines(file.text, report.head);
  }
  if (report.head.empty()) report.head = {"This archive has no code."};
  report.json = [json] { return json; };
  return report;
}

Report graph_report(const ModelArchive& archive) {
  if (archive.engine() != Engine::kOnnxRuntime) {
    read_contents(archive);  // says what it is, unless it is a model
    refuse_model(archive.path(), view_of(archive.engine()));
  }
  const ArchiveContents contents = read_contents(archive);
  try {
    const OnnxGraph graph = read_onnx_graph(archive.bytes());
    Json json = file_json("graph", archive);
    json["name"] = graph.name;
    json["opset"] = contents.onnx->opset;
    json["producer"] = contents.onnx->producer;
    json["inputs"] = values_json(contents.onnx->inputs);
    json["outputs"] = values_json(contents.onnx->outputs);
    json["constants"] = values_json(graph.constants);
    json["nodes"] = nodes_json(graph);
    Report report;
    report.head = lines_of(*contents.onnx, graph);
    report.json = [json] { return json; };
    return report;
  } catch (const std::runtime_error& error) {
    refuse_model(archive.path(),
                 std::string("is no ONNX model that can be shown (") + error.what() + ")");
  }
}

}  // namespace lookout
