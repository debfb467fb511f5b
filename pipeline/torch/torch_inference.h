// Runs a network of LibTorch, for classifiers and backbones: its start, the threads that compute, a
// custom device, and operators that are sampled or traced. Included by pipeline/torch/*.cpp only.
#pragma once

#include <torch/script.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "pipeline/archive/archive.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/frame.h"
#include "pipeline/model/thread_tuner.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/torch/operator_sampling.h"
#include "pipeline/torch/torch_device.h"
#include "pipeline/torch/torch_network.h"

namespace lookout {

// Used by one thread at a time, but for threads(), which any may ask. The engine and the thread
// counts belong to the process.
class TorchInference {
 public:
  // What is run of a loaded network, before it is frozen.
  using Cut = std::function<torch::jit::Module(const torch::jit::Module& network)>;

  // Prepares the process; nothing is loaded yet. Throws as prepare_engine() and
  // load_torch_operators().
  TorchInference(const ModelArchive& archive, ModelSpec spec, const ClassifierOptions& options);

  // Loads the network, or what `cut`, unless it is null, makes of it. Throws Error(kBadData), and
  // what `cut` throws.
  void load(const ModelArchive& archive, const ClassifierOptions& options, const Cut& cut);

  // The same, and runs it with `run` until it is warm. A network that is cut gives embeddings, and
  // leaves the spec as it is; else see warm_up(). `run` calls this object's run().
  void start(const ModelArchive& archive, const ClassifierOptions& options, const Cut& cut,
             const RunNetwork& run);

  const ModelSpec& spec() const { return spec_; }
  const ModelFacts& facts() const { return facts_; }
  const DeviceUse& device_use() const { return device_use_; }
  int threads() const { return threads_; }

  // Calls `take` with what the network gives for the image. Throws Error(kBadData) when it fails,
  // and what `take` throws.
  void run(const ImageTensor& image, const FrameContext& frame,
           const std::function<void(const c10::IValue& output)>& take);

 private:
  bool quantized() const { return network_.quantized(); }
  void prepare(const ModelArchive& archive, const ClassifierOptions& options, const Cut& cut,
               const RunNetwork& run);
  std::uint64_t counted_parameters(const torch::jit::Module& module) const;
  void measure_device(const RunNetwork& run);
  void note_peak_live_bytes(OperatorProfile& profile) const;
  void start_tuning(const ClassifierOptions& options, const WarmUp& start, const RunNetwork& run);
  void tune(Clock::duration inference);
  void use_this_thread();

  std::filesystem::path archive_;
  ModelSpec spec_;
  ModelFacts facts_;
  DeviceUse device_use_;
  std::atomic<int> threads_;
  std::optional<ThreadTuner> tuner_;  // of automatic threads
  OperatorProfile* operators_ = nullptr;
  TorchDevice* device_ = nullptr;  // of one's own; null: the CPU
  std::shared_ptr<OperatorSampling> sampling_;
  TorchNetwork network_;
  std::thread::id thread_;
};

}  // namespace lookout
