// A session of ONNX Runtime: a loaded model. Included by pipeline/onnx/*.cpp only.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/core/input_spec.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/model/thread_trials.h"

namespace lookout {

// Of a model whose file is read.
ModelFacts onnx_facts(const ArchiveContents& contents);

// Of the input of one image.
std::array<std::int64_t, 4> shape_of(const ImageTensor& image, TensorLayout layout);

// That compute one run. They sleep between runs; in one they spin for `spin` before they sleep, if
// the library is ONNX Runtime 1.27 or later. Older ones spin for as long as they like or not at
// all, so they do not.
struct OnnxThreads {
  int count = 1;
  std::chrono::microseconds spin = kSpin;
};

// May be run by several threads at the same time.
class OnnxSession {
 public:
  // Loads the archive's model. `operators`: libraries that it needs. `profile`: the beginning of
  // the name of a file that end_profiling() writes; empty: none. Throws Error(kBadData), and what
  // register_onnx_operators() throws.
  OnnxSession(const ModelArchive& archive, OnnxThreads threads,
              const std::vector<std::string>& operators = {}, const std::string& profile = {});

  // The same of the model in `bytes`; `archive` is for errors.
  OnnxSession(std::filesystem::path archive, std::string_view bytes, OnnxThreads threads,
              const std::vector<std::string>& operators, const std::string& profile = {});

  // Returns the outputs of these names. `values`: of the input, whose sizes are `shape`; they are
  // converted if the model takes other floats, or bytes. Throws Error(kBadData) when the model
  // fails.
  std::vector<Ort::Value> run(const std::vector<float>& values,
                              const std::array<std::int64_t, 4>& shape,
                              const std::vector<const char*>& outputs);
  Ort::Value run(const std::vector<float>& values, const std::array<std::int64_t, 4>& shape,
                 const std::string& output);
  const std::vector<std::string>& outputs() const { return outputs_; }

  // Returns the name of the file with the times of all runs.
  std::string end_profiling();

 private:
  std::filesystem::path archive_;
  Ort::Session session_{nullptr};
  std::string input_;
  ONNXTensorElementDataType input_type_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  std::vector<std::string> outputs_;
};

}  // namespace lookout
