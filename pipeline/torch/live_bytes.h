// The memory that the tensors of a network need while it runs. Included by pipeline/torch/*.cpp
// only.
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <optional>

namespace lookout {

// Runs the frozen `forward` once, without fusing operators. Returns the largest sum of the bytes of
// all tensors that are alive during a call of an operator: those that it gets, those that it makes,
// and those that later ones need; the input and the output among them, constants not. Tensors that
// share memory count once, what an operator allocates and frees within itself does not count. Empty
// for a network that forks: its calls run in several threads. Throws what the network throws.
//
// LibTorch's own reports do not tell it: the allocator of quantized operators reports what it
// allocates and never what it frees.
std::optional<std::uint64_t> peak_live_bytes(const torch::jit::Module& module, at::Tensor input);

}  // namespace lookout
