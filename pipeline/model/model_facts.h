// Facts about a loaded model beyond its spec.
#pragma once

#include <cstdint>
#include <string>

namespace lookout {

struct ModelFacts {
  std::string library;                    // that runs the model: "LibTorch"
  std::string version;                    // of the library
  std::string engine;                     // the library's engine in use: "QNNPACK"
  std::string activations;                // "quint8", "qint8" or "float32"; decides the kernels
  std::string kernels;                    // "QNNPACK", "XNNPACK" or "float"
  std::uint64_t parameters = 0;           // weights and biases; counted on request only
  bool recognised_probabilities = false;  // not stated: the outputs of a blank image were
  bool has_metadata = true;               // false: a bare archive; ImageNet's values are assumed
};

}  // namespace lookout
