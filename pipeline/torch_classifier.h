// A TorchScript archive on LibTorch's QNNPACK engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/classifier.h"

namespace lookout {

struct TorchClassifierOptions {
  int threads = 1;  // upper bound of the threads that compute, >= 1
  // Used instead of the archive's; required for an archive that has none.
  std::optional<std::vector<std::string>> labels;
};

// Facts about a loaded archive beyond its spec.
struct TorchModelFacts {
  std::string activations;       // "quint8", "qint8" or "float32": decides the kernels
  std::string kernels;           // "QNNPACK", "XNNPACK" or "float"
  std::uint64_t parameters = 0;  // weights and biases
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

// The engine and the thread counts belong to the process: classifiers of one process share them,
// and the last one constructed decides. `classify` may be called from another thread than the
// constructor, by one thread at a time.
class TorchClassifier : public Classifier {
 public:
  // Loads, freezes and runs the model until it is warm.
  // Throws Error(kNoInput) when there is no such file, Error(kPermission) when it may not be read,
  // Error(kBadModel) for anything wrong with the archive, its spec or its labels, Error(kInternal)
  // when this LibTorch was built without QNNPACK.
  TorchClassifier(const std::filesystem::path& archive, const TorchClassifierOptions& options);
  ~TorchClassifier() override;

  const ModelSpec& spec() const override;
  const TorchModelFacts& facts() const;
  void classify(const ImageTensor& image, std::vector<float>& logits) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lookout
