// The time that a model's operators take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/frame.h"

namespace lookout {

// The calls of one operator of one model. With shapes, only calls with inputs of the same shapes.
struct OperatorRow {
  std::string model;
  std::string name;           // "quantized::conv2d_relu"
  std::string shapes;         // of the input tensors, "[1, 3, 224, 224]"; empty: not recorded
  std::uint64_t sampled = 0;  // calls that were measured
  // Estimates for all calls: the measured sum divided by the probability.
  double calls = 0;
  Clock::duration total{};
  Clock::duration self{};  // without the operators that it called
  double share = 0;        // of the self time of all operators, 0..1
  // The longest measured call and its frame.
  Clock::duration max{};
  std::uint64_t max_frame = 0;
};

struct OperatorTable {
  double probability = 0;
  bool with_shapes = false;
  std::uint64_t frames = 0;       // classified while calls were sampled
  std::vector<OperatorRow> rows;  // largest self time first
};

}  // namespace lookout
