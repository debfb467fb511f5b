// Operators that a model needs and ONNX Runtime does not have, from libraries. Included by
// pipeline/onnx/*.cpp only.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <string>
#include <vector>

namespace lookout {

// Loads the libraries, which stay loaded: sessions use their code as long as they live. Each
// session registers them again. Throws what check_operator_library() and load_operator_library()
// throw, and Error(kBadData) when a library refuses.
void register_onnx_operators(const std::vector<std::string>& libraries,
                             Ort::SessionOptions& options);

// Whether ONNX Runtime's message says that a domain of operators is defined twice.
bool defines_domain_twice(const std::string& message);

// Throws Error(kBadData), which names the libraries, for such a domain.
[[noreturn]] void refuse_domain(const std::vector<std::string>& libraries);

// The operator ("acme::Scores") that ONNX Runtime's message about a model does not know. Empty: the
// message is about something else.
std::string missing_onnx_operator(const std::string& message);

}  // namespace lookout
