#include "pipeline/onnx/onnx_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "pipeline/archive/operator_library.h"
#include "pipeline/core/append_format.h"
#include "pipeline/core/error.h"
#include "pipeline/core/printable.h"

namespace lookout {
namespace {

// "1.27.0" is the release that brought version 27 of the interface; nothing else counts. 0: another
// text.
int interface_of(std::string_view version) {
  int number = 0;
  if (version.substr(0, 2) != "1.") return 0;
  std::from_chars(version.data() + 2, version.data() + version.size(), number);
  return number;
}

// An interface is a part of each later one.
OperatorAbi onnx_abi() {
  const std::string own = OrtGetApiBase()->GetVersionString();
  return {Engine::kOnnxRuntime, own, [own](const std::string& version) {
            const int needed = interface_of(version);
            return needed > 0 && needed <= interface_of(own);
          }};
}

}  // namespace

void register_onnx_operators(const std::vector<std::string>& libraries,
                             Ort::SessionOptions& options) {
  for (const std::string& library : libraries) {
    check_operator_library(library, onnx_abi());
    load_operator_library(library, onnx_abi());
    try {
      options.RegisterCustomOpsLibrary(library.c_str());
    } catch (const std::exception& error) {
      throw bad_operator_library(library,
                                 "does not register its operators: " + first_line(error.what()));
    }
  }
}

bool defines_domain_twice(const std::string& message) {
  return message.find("Domain already set in registry") != std::string::npos;
}

void refuse_domain(const std::vector<std::string>& libraries) {
  throw bad_operator_library(joined(libraries, ", "),
                             libraries.size() > 1
                                 ? "define a domain of operators twice: give one of them"
                                 : "defines a domain of operators that ONNX Runtime has already");
}

std::string missing_onnx_operator(const std::string& message) {
  const auto end = message.find(" is not a registered function/op");
  if (end == std::string::npos) return {};
  const auto begin = message.find_last_of(' ', end - 1) + 1;
  std::string name = message.substr(begin, end - begin);  // "acme:Scores(-1)"
  name.erase(std::min(name.find('('), name.size()));
  const auto colon = name.find(':');
  return colon == std::string::npos ? name : name.replace(colon, 1, "::");
}

}  // namespace lookout
