// What is read from the graph of an archive, and changed in it. Included by pipeline/torch/*.cpp
// only.
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/model/input_spec.h"

namespace lookout {

// Weights and biases: parameters, and those in the packed objects of quantized layers, which are
// unpacked for it. Of a module that is not frozen.
std::uint64_t count_parameters(const torch::jit::Module& module);

// The type that the graph's first quantization of a float tensor makes: "quint8" or "qint8";
// "float32" where there is none.
std::string find_activations(const torch::jit::Block& block);

// How a frozen `forward` quantizes its input, if it does nothing else with it. Nothing either where
// the graph writes to the bytes, since they are to be the caller's.
std::optional<InputQuantization> find_input_quantization(
    const std::shared_ptr<torch::jit::Graph>& graph);

// Leaves out what find_input_quantization() found: the graph begins with what comes of it.
void expect_quantized_input(torch::jit::Graph& graph);

// Freezing deletes functions that the nodes of the frozen graph still name: LibTorch would look at
// them when `forward` fails, and crash.
void forget_callers(torch::jit::Block& block, torch::jit::Function& forward);

}  // namespace lookout
