// Reads and changes the graph of an archive. Included by pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/input_spec.h"

namespace lookout {

// The number of weights and biases, including those in the packed objects of quantized layers.
// `module` must not be frozen.
std::uint64_t count_parameters(const torch::jit::Module& module);

// Whether the module holds packed objects of quantized layers. It must not be frozen.
bool has_packed_weights(const torch::jit::Module& module);

// The type that the graph's first quantization of a float tensor produces: "quint8" or "qint8";
// "float32" without a quantization.
std::string find_activations(const torch::jit::Block& block);

// Whether a frozen `forward` writes to its input, or keeps it for later. Else the caller may reuse
// its memory for the next picture.
bool aliases_or_mutates_input(const std::shared_ptr<torch::jit::Graph>& graph);

// Removes the quantization that a frozen `forward` applies to its input: the graph then takes a
// quantized input. Empty when it also uses the input otherwise, or keeps or changes the quantized
// bytes.
std::optional<InputQuantization> take_input_quantization(
    const std::shared_ptr<torch::jit::Graph>& graph);

// The sides that a frozen `forward` exchanges in its input (torch.flip).
struct InputFlip {
  bool x = false;
  bool y = false;
};

// The same for a flip: the graph then takes a flipped input.
std::optional<InputFlip> take_input_flip(const std::shared_ptr<torch::jit::Graph>& graph);

// Replaces the functions in the call stacks of a frozen graph's nodes, which freezing deleted, by
// `forward`: LibTorch would look at them when `forward` fails, and crash. The module instances,
// which are the layers, stay.
void keep_layers(torch::jit::Block& block, torch::jit::Function& forward);

// The layer, as Python's named_modules() calls it ("features.3"), in LibTorch's texts of the calls
// that led to a node: "TOP(Net)::forward", "SELF(Net)::forward", "features(Sequential)::forward",
// "3(Block)::forward"; a function is "::relu". Empty: the model's own code.
std::string layer_of(const std::vector<std::string>& calls);

// Of the node that the calling thread's interpreter runs. Takes tens of thousands of instructions.
std::string current_layer();

// The floats that are replaced: a network in floats of 16 or 64 bits is made one in floats of 32
// bits. Images are such floats, and LibTorch's kernels for the CPU lack many operators of 16 bits.
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
