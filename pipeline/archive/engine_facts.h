// The engines that run models: one table of all that the program says of them outside of their own
// folders, and facts about their libraries. What each engine does in its own way is a switch over
// Engine without a default where each has something to do, so that the compiler names these places;
// pipeline/README.md names those that compare with one engine.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lookout {

enum class Engine { kTorch, kOnnxRuntime };

// Names are shown, and parts of the interface: JSON, packages, tests.
struct EngineRow {
  Engine engine;
  const char* library;   // whose name stands for the engine's
  const char* check;     // in the report of `lookout doctor`
  const char* module;    // the file that open_models() loads
  const char* package;   // of the system, which brings the module
  const char* format;    // of its models, in JSON
  const char* models;    // in a sentence before " models"
  const char* model;     // one of them, in a sentence
  const char* metadata;  // the name of lookout's description in a model
  const char* labels;    // the name of the labels in a model
  // How a model begins. A file that begins otherwise is taken for one of the first engine, which
  // says what it is instead.
  std::string_view first_bytes;
  const char* suffix;                              // of models that lookout makes
  std::array<std::string_view, 5> other_suffixes;  // which others give such models
  // How libraries of custom operators are recognised: by a symbol that they export (null: none),
  // or by what they are linked with (beginnings of names).
  const char* operators_entry;
  std::array<std::string_view, 2> operators_link;
};

// In the order of Engine.
inline constexpr std::array<EngineRow, 2> kEngines{
    {{Engine::kTorch,
      "LibTorch",
      "libtorch",
      "liblookout-torch.so",
      "lookout-torch",
      "torchscript",
      "TorchScript",
      "a TorchScript archive",
      "metadata.json",
      "labels.txt",
      "PK",  // a ZIP file
      ".pt",
      {".pth", ".torchscript", ".ptl", ".ts", ".jit"},
      nullptr,
      {"libtorch", "libc10."}},
     {Engine::kOnnxRuntime,
      "ONNX Runtime",
      "onnxruntime",
      "liblookout-onnxruntime.so",
      "lookout-onnxruntime",
      "onnx",
      "ONNX",
      "an ONNX model",
      "lookout.metadata",
      "lookout.labels",
      "\x08",  // the number of the first field, the version: onnx.proto
      ".onnx",
      {},
      "RegisterCustomOps",
      {}}}};

constexpr const EngineRow& row_of(Engine engine) {
  return kEngines[static_cast<std::size_t>(engine)];
}
static_assert(row_of(Engine::kTorch).engine == Engine::kTorch);
static_assert(row_of(Engine::kOnnxRuntime).engine == Engine::kOnnxRuntime);

inline const char* to_text(Engine engine) { return row_of(engine).library; }

struct EngineFacts {
  std::string version;
  std::vector<std::string> engines;  // within the library, of which one is used
  std::string lack;  // of what lookout requires: "QNNPACK is needed"; empty: nothing
  std::string used;  // the one that is used: "QNNPACK"
};

}  // namespace lookout
