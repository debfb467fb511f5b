// The time that a model's operators take, as a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/frame.h"

namespace lookout {

// The calls of one operator, of one model, with inputs of the same shapes if those are looked at.
struct OperatorRow {
  std::string model;
  std::string name;           // "quantized::conv2d_relu"
  std::string shapes;         // of the input tensors, "[1, 3, 224, 224]"; empty: not looked at
  std::uint64_t sampled = 0;  // calls that were measured
  // Of all calls, estimated: what was measured, divided by the probability.
  double calls = 0;
  Clock::duration total{};
  Clock::duration self{};  // less what the operators that it called took
  double share = 0;        // of the self time of all operators, 0..1
  // The longest measured call and its frame.
  Clock::duration max{};
  std::uint64_t max_frame = 0;
};

// A value: what was measured so far.
struct OperatorTable {
  double probability = 0;
  bool with_shapes = false;
  std::uint64_t frames = 0;       // that were classified meanwhile
  std::vector<OperatorRow> rows;  // the largest self time first
};

}  // namespace lookout
