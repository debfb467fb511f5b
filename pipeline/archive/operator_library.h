// Libraries of operators that a model needs beyond those of its engine. A library is code, which
// runs with the program's rights when it is loaded.
//
// For LibTorch it registers its operators by static initialisers, as of TORCH_LIBRARY; for ONNX
// Runtime it exports RegisterCustomOps. Either may export an array of characters that tells what it
// was compiled for, which is compared before anything of it runs:
//
//   extern "C" const char lookout_operators_abi[] = "LibTorch " TORCH_VERSION;
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/error.h"

namespace lookout {

// What an engine takes.
struct OperatorAbi {
  Engine engine;
  std::string version;  // of the engine's library
  // Whether it takes a library compiled for `version`: the text without the engine's name.
  std::function<bool(const std::string& version)> accepts;
};

// The engine that a library has operators for, which is told without loading it; nothing when that
// cannot be told. Throws Error(kNoInput) or Error(kPermission) when it cannot be read.
std::optional<Engine> engine_of_library(const std::string& path);

// Reads the library and loads nothing. Throws Error(kNoInput) or Error(kPermission) when it cannot
// be read, Error(kBadData) when it is no shared library for this processor, or is for another
// engine or another version of it.
void check_operator_library(const std::string& path, const OperatorAbi& abi);

// Loads a library that was checked, which stays loaded: its static initialisers run. Throws
// Error(kBadData) when the dynamic loader refuses it.
void* load_operator_library(const std::string& path, const OperatorAbi& abi);

// Error(kBadData): "operator library PATH `what`".
Error bad_operator_library(const std::string& path, const std::string& what);

// Throws Error(kBadData), which names the operator and the option for libraries.
[[noreturn]] void refuse_missing_operator(const std::filesystem::path& model,
                                          const std::string& name, Engine engine);

}  // namespace lookout
