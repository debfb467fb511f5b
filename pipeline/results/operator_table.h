// The time and the memory that a model's operators take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/frame.h"

namespace lookout {

// Which calls of an operator share a row: all of them, those with inputs of the same shapes, or
// those of the same layer.
enum class OperatorGroup { kName, kShape, kLayer };

// By which column rows are sorted, the largest first.
enum class OperatorOrder { kSelf, kTotal, kMemory, kCalls };

// The calls of one operator of one model, or the parts of its code under one label.
struct OperatorRow {
  std::string model;
  std::string name;       // "quantized::conv2d_relu", or the label
  bool is_label = false;  // of torch.autograd.profiler.record_function in the model's code
  std::string shapes;     // of the input tensors, "[1, 3, 224, 224]"; empty: not recorded
  // The module as Python's named_modules() calls it, "features.3.conv.0"; empty: not recorded, or
  // the code of the model itself.
  std::string layer;
  std::uint64_t sampled = 0;  // calls that were measured
  // Estimates for all calls: the measured sum divided by the probability.
  double calls = 0;
  Clock::duration total{};
  Clock::duration self{};  // without the operators that it called
  double bytes = 0;        // allocated, without the operators that it called
  double share = 0;        // of the self time of all operators, 0..1
  // The longest measured call and its frame.
  Clock::duration max{};
  std::uint64_t max_frame = 0;
};

struct OperatorTable {
  double probability = 0;
  OperatorGroup group = OperatorGroup::kName;
  OperatorOrder order = OperatorOrder::kSelf;
  std::uint64_t frames = 0;  // classified while calls were sampled
  // The largest sum of the bytes of all tensors that are alive at a time in one frame, the input
  // among them, the weights not. Empty: not known.
  std::optional<std::uint64_t> peak_live_bytes;
  std::vector<OperatorRow> rows;  // sorted by `order`
};

// Sorts the rows. Rows that are equal keep their order.
void sort_rows(OperatorOrder order, OperatorTable& table);

}  // namespace lookout
