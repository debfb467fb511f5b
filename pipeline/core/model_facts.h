// Facts about a loaded model beyond its spec.
#pragma once

#include <cstdint>
#include <string>

namespace lookout {

struct ModelFacts {
  std::string library;             // that runs the model: "LibTorch"
  std::string version;             // of the library
  std::string engine;              // the library's engine in use: "QNNPACK", "CPU"
  std::string activations;         // "quint8", "qint8" or "float32"; decides the kernels
  std::string kernels;             // "QNNPACK", "XNNPACK", "MLAS" or "float"
  std::uint64_t parameters = 0;    // weights and biases; counted on request only
  bool recognised_output = false;  // what the outputs are was not stated, but found out
  bool samples_operators = false;  // for ClassifierOptions::operators
  std::string advice = {};         // what makes it slow here, and the way out; empty: nothing
};

// "LibTorch 2.9.1".
inline std::string library_text(const ModelFacts& facts) {
  return facts.library + " " + facts.version;
}

}  // namespace lookout
