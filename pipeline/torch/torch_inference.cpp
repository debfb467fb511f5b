#include "pipeline/torch/torch_inference.h"

#include <malloc.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pipeline/core/log.h"
#include "pipeline/model/start_log.h"
#include "pipeline/torch/torch_failure.h"
#include "pipeline/torch/torch_graph.h"
#include "pipeline/torch/torch_operators.h"
#include "pipeline/torch/torch_threads.h"

namespace lookout {

TorchInference::TorchInference(const ModelArchive& archive, ModelSpec spec,
                               const ClassifierOptions& options)
    : archive_(archive.path()), spec_(std::move(spec)), threads_(std::max(1, options.threads)) {
  prepare_engine();
  load_torch_operators(options.operator_libraries);
  if (options.operators != nullptr) sampling_ = OperatorSampling::of(*options.operators);
  set_compute_threads(threads_, /*quantized=*/true);
}

void TorchInference::load(const ModelArchive& archive, const ClassifierOptions& options,
                          const Cut& cut) {
  if (!options.device.name.empty()) device_ = &TorchDevice::open(options.device);
  const c10::Device device = device_ == nullptr ? at::kCPU : device_->device();
  torch::jit::Module module =
      device_ == nullptr ? load_network(archive) : load_on_device(archive, device);
  if (cut) module = cut(module);
  if (options.count_parameters) facts_.parameters = counted_parameters(module);
  network_ = TorchNetwork(module, archive_, device);
  network_.describe(spec_.input);
  network_.describe(facts_);
}

void TorchInference::start(const ModelArchive& archive, const ClassifierOptions& options,
                           const Cut& cut, const RunNetwork& run) {
  prepare(archive, options, cut, run);
  if (device_ != nullptr) measure_device(run);
  if (options.operators != nullptr && device_ == nullptr) note_peak_live_bytes(*options.operators);
  malloc_trim(0);  // frees the memory of loading and unpacking
  operators_ = options.operators;
}

void TorchInference::prepare(const ModelArchive& archive, const ClassifierOptions& options,
                             const Cut& cut, const RunNetwork& run) {
  const TorchDevice::Preparation preparation;
  StartLog log(spec_.name, "is being loaded");
  load(archive, options, cut);
  log.begin("is run for the first times");
  // With one thread if the number is to be chosen: LibTorch 2.6 keeps a pool of more in use, with
  // which an inference takes 750 ms instead of 3 where other programs compute.
  const WarmUp start =
      cut ? warm_up_embedding(run, spec_.input) : warm_up(archive_, run, spec_, facts_);
  log.begin("is run to choose the number of threads");
  start_tuning(options, start, run);
}

std::uint64_t TorchInference::counted_parameters(const torch::jit::Module& module) const {
  try {
    return count_parameters(module);
  } catch (const std::exception& error) {
    refuse_model(archive_, "cannot be prepared for inference: " + first_sentence(error));
  }
}

// LibTorch has prepared the graph by then, which needs the fallback, too.
void TorchInference::measure_device(const RunNetwork& run) {
  const ImageTensor image = blank_image(spec_.input);
  std::vector<float> numbers;
  device_use_ = device_->measure([&] { run(image, numbers); });
  device_use_.bytes_in = image.values.size() * sizeof(float);
  device_use_.bytes_out = numbers.size() * sizeof(float);
}

void TorchInference::note_peak_live_bytes(OperatorProfile& profile) const {
  const auto peak = network_.peak_live_bytes(blank_image(spec_.input));
  if (peak) profile.add_peak_live_bytes(*peak);
}

void TorchInference::start_tuning(const ClassifierOptions& options, const WarmUp& start,
                                  const RunNetwork& run) {
  const bool choose = options.threads == ClassifierOptions::kAutoThreads;
  const int max_threads = choose ? options.processors : options.threads;
  if (max_threads == 1 || (options.keep_threads && !choose)) return;
  tuner_.emplace(max_threads, choose ? ThreadTuner::Start::kTryAll : ThreadTuner::Start::kMax,
                 options.free_processors, ThreadTuner::kBudget, start.left,
                 choose ? start.last_run / max_threads : start.last_run);
  threads_ = tuner_->threads();
  set_compute_threads(threads_, quantized());
  const ImageTensor image = blank_image(spec_.input);
  std::vector<float> numbers;
  while (tuner_->starting()) run(image, numbers);
}

void TorchInference::tune(Clock::duration inference) {
  const bool starting = tuner_->starting();
  tuner_->record(inference);
  const int threads = tuner_->threads();
  const int before = threads_.exchange(threads);
  if (threads == before) return;
  if (!starting) log_debug("computing threads: {} instead of {}", threads, before);
  set_compute_threads(threads, quantized());
}

void TorchInference::use_this_thread() {
  if (thread_ == std::this_thread::get_id()) return;
  thread_ = std::this_thread::get_id();
  adopt_compute_threads(threads_, quantized());
  log_torch_warnings();
}

void TorchInference::run(const ImageTensor& image, const FrameContext& frame,
                         const std::function<void(const c10::IValue& output)>& take) {
  use_this_thread();
  const auto start = Clock::now();
  {
    const c10::InferenceMode inference;
    const OperatorScope scope(operators_, frame, spec_.name);
    take(naming_assumed_size(spec_, [&] { return network_.forward(image); }));
  }
  if (quantized()) rest_compute_threads();
  if (tuner_) tune(Clock::now() - start);
}

}  // namespace lookout
