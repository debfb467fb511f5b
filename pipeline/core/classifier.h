// Computes scores for an image. Each engine implements Classifier in a folder of its own, as do the
// fakes in tests/.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/device.h"
#include "pipeline/core/input_spec.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

class OperatorProfile;
class Trace;

struct ClassifierOptions {
  static constexpr int kAutoThreads = 0;

  // Upper bound of the computing threads, >= 1. kAutoThreads: a number from 1 to `processors` is
  // chosen when the model was loaded, which takes up to 1.5 s, within kStartLimit in any case.
  // Either way one thread computes while other programs want the processors and one thread is
  // faster.
  int threads = 1;
  bool keep_threads = false;  // always compute with `threads` threads: for measurements
  int processors = 1;         // that the process may use
  std::function<double()> free_processors = [] { return 0.0; };  // see ThreadTuner
  // Used instead of the archive's labels. Required for an archive without labels.
  std::optional<std::vector<std::string>> labels;
  StatedModel stated;  // used instead of what the archive says
  // Absolute paths of libraries with operators that the model needs, which are loaded before it.
  std::vector<std::string> operator_libraries;
  bool count_parameters = false;         // for ModelFacts; unpacks all weights once more
  bool trace = false;                    // some frames will be traced
  DeviceOptions device;                  // a custom one, with LibTorch; no name: the CPU
  OperatorProfile* operators = nullptr;  // samples classify(); outlives the classifier; null: none
};

// The frame that an image belongs to.
struct FrameContext {
  std::uint64_t sequence = 0;
  Trace* trace = nullptr;  // records the operators; null: the frame is not traced
};

// Used by one thread at a time, which need not be the one that constructed it.
class Classifier {
 public:
  virtual ~Classifier() = default;

  // All are valid as long as the classifier.
  virtual const ModelSpec& spec() const = 0;
  virtual const ModelFacts& facts() const = 0;
  // What the device of ClassifierOptions took of a blank frame, after those that warm up.
  virtual const DeviceUse& device_use() const {
    static const DeviceUse none;
    return none;
  }

  // Number of threads that compute at the moment.
  virtual int threads() const = 0;

  // `image` has the size of spec().input and is flipped as it says. It holds floats, or bytes if
  // spec().input has a quantization, which is faster and gives the same result. `logits` is
  // overwritten with one score for each label, which spec().output describes. Throws
  // Error(kBadData) when the model fails.
  virtual void classify(const ImageTensor& image, const FrameContext& frame,
                        std::vector<float>& logits) = 0;
};

}  // namespace lookout
