// A network in floats of 16 or 64 bits is made one in floats of 32 bits: images are such floats,
// and LibTorch's kernels for the CPU lack many operators of 16 bits. Included by
// pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <memory>

namespace lookout {

// The floats that are replaced.
struct ReplacedFloats {
  bool halves = false;   // of 16 bits: float16 and bfloat16
  bool doubles = false;  // of 64 bits

  bool any() const { return halves || doubles; }
  bool has(c10::ScalarType type) const;
};

// Converts the weights of a module, with all that share them, when some are of 16 bits, or all of
// 64 bits. Returns which it converted.
ReplacedFloats replace_floats(const torch::jit::Module& module);

// The same for a frozen graph: its constants, and the types that its operators are asked for.
// `replaced`: of its module; constants of 16 bits are replaced in any case when they are weights.
void replace_floats(const std::shared_ptr<torch::jit::Graph>& graph, ReplacedFloats replaced);

}  // namespace lookout
