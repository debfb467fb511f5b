// Runs an ONNX model, for classifiers and backbones: its start, the number of threads, and traced
// frames. Included by pipeline/onnx/*.cpp only.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/core/classifier.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/onnx/onnx_session.h"
#include "pipeline/onnx/onnx_trace.h"

namespace lookout {

// run() may be called by several threads at the same time once the model is started or loaded.
class OnnxInference {
 public:
  enum class Gives { kScores, kEmbeddings };

  // Nothing is loaded yet.
  OnnxInference(const ModelArchive& archive, ModelSpec spec);

  // Loads the model. Throws as OnnxSession.
  void load(const ModelArchive& archive, const ClassifierOptions& options);

  // The same, and runs it with `run` until it is warm. With scores the spec is completed: see
  // warm_up(). `run` calls this object's run(), always for the same outputs after the first time.
  void start(const ModelArchive& archive, const ClassifierOptions& options, Gives gives,
             const RunNetwork& run);

  const ModelSpec& spec() const { return spec_; }
  const ModelFacts& facts() const { return facts_; }
  int threads() const { return threads_; }
  // The names of all outputs. The pointers are valid as long as the model.
  std::vector<const char*> all_outputs() const;

  // Returns the outputs of these names. Throws Error(kBadData) when the model fails.
  std::vector<Ort::Value> run(const ImageTensor& image, const FrameContext& frame,
                              const std::vector<const char*>& outputs);

 private:
  void choose_threads(const ModelArchive& archive, const ClassifierOptions& options,
                      const RunNetwork& run, Clock::duration limit, Clock::duration load_time);
  void prepare_trace(const ModelArchive& archive, const ClassifierOptions& options);

  std::filesystem::path archive_;
  ModelSpec spec_;
  ModelFacts facts_;
  int threads_ = 1;
  std::shared_ptr<OnnxSession> session_;
  std::unique_ptr<OnnxTrace> trace_;  // null: no frame will be traced
};

}  // namespace lookout
