#include "pipeline/archive/custom_operators.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "pipeline/core/text.h"

namespace lookout {
namespace {

constexpr std::size_t kMaxWord = 1000;  // characters; names are shorter
constexpr std::size_t kMaxNames = 1000;

// Namespaces of operators and classes in LibTorch 1.13 to 2.9.
constexpr std::array kTorchNamespaces{"_c10d_functional",
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

bool is_torch_namespace(std::string_view name) {
  return std::find(kTorchNamespaces.begin(), kTorchNamespaces.end(), name) !=
         kTorchNamespaces.end();
}

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool is_torch_operator(const std::string& name) {
  const std::string_view all = name;
  return is_torch_namespace(all.substr(0, all.find("::")));
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
    if (!starts_with(word, start)) continue;
    const std::string name = word.substr(start.size());
    const auto dot = name.find('.');
    if (dot == 0 || dot == std::string::npos) continue;
    const std::string space = name.substr(0, dot);
    if (is_torch_namespace(space) || names_.size() >= kMaxNames) continue;
    names_.insert(space + "::" + name.substr(dot + 1));
  }
}

}  // namespace lookout
