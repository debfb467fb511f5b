// Which operators the code of an archive needs that LibTorch does not have.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

// Names of operators with their namespaces: "acme::scores".
using OperatorNames = std::set<std::string>;

// Whether the operator ("aten::conv2d") is in one of LibTorch's own namespaces, whatever its
// version.
bool is_torch_operator(const std::string& name);

// Reads the code of a TorchScript archive in pieces.
class TorchCodeScanner {
 public:
  // Adds to `names` the operators and classes whose namespace is none of LibTorch's. It outlives
  // the scanner.
  explicit TorchCodeScanner(OperatorNames& names) : names_(names) {}

  void take(std::string_view piece);
  // After the last piece.
  void finish() { end_word(); }

 private:
  void take(char c);
  void take_text(char c);
  void end_word();

  OperatorNames& names_;
  std::string word_;      // characters of names and the dots between them
  char quote_ = '\0';     // of the text that is being read
  bool escaped_ = false;  // the next character of the text
  bool comment_ = false;  // the rest of the line
};

}  // namespace lookout
