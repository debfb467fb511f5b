// Cuts a network before its last layer. Included by pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <memory>

namespace lookout {

// A module whose forward(x) returns what the last layer of `network` takes: the embeddings, as
// floats; if that layer has kLeastClassesOfProfiles outputs and more, a pair of them and of its
// outputs, as floats before softmax. It holds the weights that it needs, shared with `network`,
// under the names that they have there, and no other modules. `network` is in evaluation mode and
// stays as it is; a network of TorchTrainer::write() is cut at the same place again.
//
// The last layer is a linear one, quantized or not, after which only softmax and the like may come.
// Throws std::runtime_error, whose sentence names what comes last, when it is not.
torch::jit::Module make_backbone(const torch::jit::Module& network,
                                 const std::shared_ptr<torch::jit::CompilationUnit>& unit);

// The weights of the last layer of make_backbone(), floats of [outputs, width]. Not defined when it
// has none, or they cannot be read.
at::Tensor last_weights(const torch::jit::Module& backbone);

// The submodule of a network of TorchTrainer::write() that makes the embeddings.
inline constexpr const char* kBackbone = "backbone";

}  // namespace lookout
