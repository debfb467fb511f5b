#include "pipeline/archive/foreign_operators.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <protozero/pbf_message.hpp>
#include <stdexcept>
#include <utility>

#include "pipeline/archive/onnx_fields.h"

namespace lookout {
namespace {

using onnx::AttributeField;
using onnx::FunctionField;
using onnx::GraphField;
using onnx::ModelField;
using onnx::NodeField;

constexpr std::size_t kMaxWord = 1000;  // characters; names are shorter
constexpr std::size_t kMaxNames = 1000;
constexpr int kMaxNesting = 100;

// Namespaces of operators and classes in LibTorch 1.13 to 2.9.
constexpr std::string_view kTorchNamespaces[] = {"_c10d_functional",
                                                 "_c10d_functional_autograd",
                                                 "_dtensor",
                                                 "_nnapi",
                                                 "_quantized",
                                                 "_test",
                                                 "aten",
                                                 "c10d",
                                                 "cuda",
                                                 "dist_rpc",
                                                 "inductor",
                                                 "mkl",
                                                 "mkldnn",
                                                 "mkldnn_prepacked",
                                                 "onednn",
                                                 "onnx",
                                                 "prepacked",
                                                 "prim",
                                                 "prims",
                                                 "profiler",
                                                 "quantization",
                                                 "quantized",
                                                 "rnn",
                                                 "sparse",
                                                 "static_runtime",
                                                 "symm_mem",
                                                 "tensorexpr",
                                                 "xnnpack"};

constexpr std::string_view kOnnxDomains[] = {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training",
                                             "ai.onnx.preview.training"};

template <typename List>
bool contains(const List& list, std::string_view wanted) {
  return std::find(std::begin(list), std::end(list), wanted) != std::end(list);
}

bool begins(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

template <typename Field>
using Message = protozero::pbf_message<Field>;

// The operators of a model's nodes, and its own functions.
class OnnxOperators {
 public:
  void read(Message<ModelField> model) {
    while (model.next()) {
      if (is_message(model) && model.tag() == ModelField::kGraph) {
        read(Message<GraphField>(model.get_message()), 0);
      } else if (is_message(model) && model.tag() == ModelField::kFunctions) {
        read(Message<FunctionField>(model.get_message()));
      } else {
        model.skip();
      }
    }
  }

  OperatorNames finish() {
    for (const std::string& name : functions_) used_.erase(name);
    return std::move(used_);
  }

 private:
  template <typename Field>
  static bool is_message(const Message<Field>& message) {
    return message.wire_type() == protozero::pbf_wire_type::length_delimited;
  }

  void read(Message<GraphField> graph, int nesting) {
    if (nesting > kMaxNesting) throw std::runtime_error("its graphs are nested too deeply");
    while (graph.next(GraphField::kNode, protozero::pbf_wire_type::length_delimited)) {
      read(Message<NodeField>(graph.get_message()), nesting);
    }
  }

  void read(Message<FunctionField> function) {
    std::string name;
    std::string domain;
    while (function.next()) {
      if (is_message(function) && function.tag() == FunctionField::kNode) {
        read(Message<NodeField>(function.get_message()), 0);
      } else if (is_message(function) && function.tag() == FunctionField::kName) {
        name = function.get_string();
      } else if (is_message(function) && function.tag() == FunctionField::kDomain) {
        domain = function.get_string();
      } else {
        function.skip();
      }
    }
    functions_.insert(domain + "::" + name);
  }

  void read(Message<NodeField> node, int nesting) {
    std::string type;
    std::string domain;
    while (node.next()) {
      if (is_message(node) && node.tag() == NodeField::kOpType) {
        type = node.get_string();
      } else if (is_message(node) && node.tag() == NodeField::kDomain) {
        domain = node.get_string();
      } else if (is_message(node) && node.tag() == NodeField::kAttribute) {
        read(Message<AttributeField>(node.get_message()), nesting);
      } else {
        node.skip();
      }
    }
    const bool own = contains(kOnnxDomains, domain) || begins(domain, "com.microsoft") ||
                     begins(domain, "com.ms.internal");
    if (!own && used_.size() < kMaxNames) used_.insert(domain + "::" + type);
  }

  void read(Message<AttributeField> attribute, int nesting) {
    while (attribute.next()) {
      const bool graph =
          attribute.tag() == AttributeField::kGraph || attribute.tag() == AttributeField::kGraphs;
      if (graph && is_message(attribute)) {
        read(Message<GraphField>(attribute.get_message()), nesting + 1);
      } else {
        attribute.skip();
      }
    }
  }

  OperatorNames used_;
  OperatorNames functions_;
};

}  // namespace

bool is_torch_operator(const std::string& name) {
  const std::string_view all = name;
  return contains(kTorchNamespaces, all.substr(0, all.find("::")));
}

void TorchCodeScanner::take(std::string_view piece) {
  for (const char c : piece) take(c);
}

void TorchCodeScanner::take_text(char c) {
  if (!escaped_ && c == quote_) quote_ = '\0';
  escaped_ = !escaped_ && c == '\\';
}

// Texts and comments end with their line at the latest.
void TorchCodeScanner::take(char c) {
  if (c == '\n') {
    quote_ = '\0';
    comment_ = escaped_ = false;
    end_word();
  } else if (quote_ != '\0') {
    take_text(c);
  } else if (comment_) {
    return;
  } else if (is_in_name(c) || c == '.') {
    if (word_.size() < kMaxWord) word_ += c;
  } else {
    end_word();
    comment_ = c == '#';
    if (c == '"' || c == '\'') quote_ = c;
  }
}

// "ops.acme.scores", or "__torch__.torch.classes.acme.Scores".
void TorchCodeScanner::end_word() {
  const std::string word = std::exchange(word_, {});
  for (const std::string_view start : {"ops.", "__torch__.torch.classes."}) {
    if (!begins(word, start)) continue;
    const std::string name = word.substr(start.size());
    const auto dot = name.find('.');
    if (dot == 0 || dot == std::string::npos) continue;
    const std::string space = name.substr(0, dot);
    if (contains(kTorchNamespaces, space) || names_.size() >= kMaxNames) continue;
    names_.insert(space + "::" + name.substr(dot + 1));
  }
}

OperatorNames onnx_foreign_operators(std::string_view bytes) {
  OnnxOperators operators;
  operators.read(Message<ModelField>(bytes.data(), bytes.size()));
  return operators.finish();
}

}  // namespace lookout
