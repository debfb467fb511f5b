// A TorchScript archive on LibTorch's QNNPACK engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/classifier.h"
#include "pipeline/torch/operator_profile.h"

namespace lookout {

struct TorchClassifierOptions {
  static constexpr int kAutoThreads = 0;

  // Upper bound of the threads that compute, >= 1; or kAutoThreads: the number that ThreadTuner
  // chooses from 1 to `processors`, which takes up to 1.5 s when the model is loaded. Either way
  // one thread computes as long as other programs want the processors and it is faster so.
  int threads = 1;
  bool keep_threads = false;                                     // ... but not so: for measurements
  int processors = 1;                                            // that the process may use
  std::function<double()> free_processors = [] { return 0.0; };  // see ThreadTuner
  // Used instead of the archive's; required for an archive that has none.
  std::optional<std::vector<std::string>> labels;
  bool count_parameters = false;         // for TorchModelFacts; unpacks all weights once more
  OperatorProfile* operators = nullptr;  // counts those of classify(), outlives the classifier
};

// Facts about a loaded archive beyond its spec.
struct TorchModelFacts {
  std::string activations;       // "quint8", "qint8" or "float32": decides the kernels
  std::string kernels;           // "QNNPACK", "XNNPACK" or "float"
  std::uint64_t parameters = 0;  // weights and biases, when asked for
  bool has_metadata = true;      // false: a bare archive, ImageNet's values were assumed
  std::string libtorch;          // version of the library that runs it
  std::string engine;            // quantized engine in use
};

// What the library itself is.
struct LibTorchFacts {
  std::string version;
  std::vector<std::string> engines;  // quantized engines that it was built with
  bool has_qnnpack = false;          // the one that lookout chooses
};

LibTorchFacts libtorch_facts();

// From now on the debug log tells which of its features LibTorch says it uses ("API usage events"),
// each once. Before the first classifier.
void log_api_usage();

// The engine and the thread counts belong to the process: classifiers of one process share them,
// and the last one constructed decides. `classify` may be called from another thread than the
// constructor, by one thread at a time. Several classifiers may work at the same time if each was
// told to use one thread.
class TorchClassifier : public Classifier {
 public:
  // Loads, freezes and runs the model until it is warm.
  // Throws Error(kNoInput) when there is no such file, Error(kPermission) when it may not be read,
  // Error(kBadData) for anything wrong with the archive, its spec or its labels, Error(kInternal)
  // when this LibTorch was built without QNNPACK.
  TorchClassifier(const std::filesystem::path& archive, const TorchClassifierOptions& options);
  ~TorchClassifier() override;

  const ModelSpec& spec() const override;
  const TorchModelFacts& facts() const;
  // That compute now.
  int threads() const;
  void classify(const ImageTensor& image, std::vector<float>& logits) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lookout
