// A network of LibTorch: how it is loaded, prepared for inference and run. Included by
// pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "pipeline/archive/archive.h"
#include "pipeline/core/input_spec.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/torch/torch_failure.h"
#include "pipeline/torch/torch_graph.h"

namespace lookout {

bool has_qnnpack();

// From now on what LibTorch and the code of an archive warn of on the calling thread goes into the
// log, each once, instead of to stderr.
void log_torch_warnings();

// Chooses the engine of this process and where print() of an archive's code goes. Call it before
// load_network(): LibTorch packs the weights for the engine while it loads the archive. Throws
// Error(kInternal) when this LibTorch was built without QNNPACK.
void prepare_engine();

// Runs the archive's own code for loading, with its weights on the device. The module is in
// evaluation mode and not frozen. Throws Error(kBadData).
torch::jit::Module load_network(const ModelArchive& archive, c10::Device device = at::kCPU);

// The same for a custom device, which takes no quantized archives: their weights are in
// objects of the CPU's kernels.
torch::jit::Module load_on_device(const ModelArchive& archive, c10::Device device);

// A network that is ready to run. Used by one thread at a time.
class TorchNetwork {
 public:
  TorchNetwork() = default;
  // Freezes the module, whose weights are on the device, and become floats of 32 bits if they are
  // not. `archive` is for errors. Throws Error(kBadData).
  TorchNetwork(const torch::jit::Module& module, std::filesystem::path archive,
               c10::Device device = at::kCPU);

  // Fills in the library, its version and engine, the activations and their kernels, and the
  // advice.
  void describe(ModelFacts& facts) const;
  // Fills in the quantization and the flip with which images come to forward().
  void describe(InputSpec& input) const;
  bool quantized() const { return activations_ != "float32"; }

  // `image`: of floats, or of bytes if there is a quantization; flipped as describe() says. The
  // result is on the CPU. Throws Error(kBadData) when the network fails.
  c10::IValue forward(const ImageTensor& image);

  // Runs the network once, without fusing operators. Returns the largest sum of the bytes of all
  // tensors that are alive during a call of an operator: those that it gets, those that it makes,
  // and those that later ones need; the input and the output among them, constants not. Tensors
  // that share memory count once, what an operator allocates and frees within itself does not
  // count. Empty for a network that forks, whose calls run in several threads, or that fails.
  std::optional<std::uint64_t> peak_live_bytes(const ImageTensor& image) const;

 private:
  at::Tensor as_input(const ImageTensor& image) const;
  bool takes_channels_last(const ImageTensor& image);

  torch::jit::Module module_;
  std::filesystem::path archive_;
  c10::Device device_ = at::kCPU;
  std::string activations_;  // as ModelFacts
  // Taken from the graph: the preprocessor does both for nothing.
  std::optional<InputQuantization> quantization_;
  InputFlip flip_;
  bool copies_input_ = false;  // of floats
};

}  // namespace lookout
