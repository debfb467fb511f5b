#include "pipeline/torch/torch_classifier.h"

#include <c10/util/Logging.h>
#include <malloc.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/model/network_output.h"
#include "pipeline/model/start_log.h"
#include "pipeline/model/thread_tuner.h"
#include "pipeline/model/warm_up.h"
#include "pipeline/torch/operator_sampling.h"
#include "pipeline/torch/torch_device.h"
#include "pipeline/torch/torch_graph.h"
#include "pipeline/torch/torch_network.h"
#include "pipeline/torch/torch_operators.h"
#include "pipeline/torch/torch_threads.h"

namespace lookout {
namespace {

NetworkOutput described(const std::string& name, const at::Tensor& tensor) {
  NetworkOutput output;
  output.name = name;
  if (tensor.layout() != at::kStrided) {
    output.type = "layout " + c10::str(tensor.layout());
    return output;
  }
  output.type = c10::toString(tensor.scalar_type());
  output.dims = tensor.sizes().vec();
  if (tensor.is_floating_point() || tensor.is_quantized()) {
    output.numbers = NetworkOutput::Numbers::kFloats;
  } else if (tensor.scalar_type() == at::kByte) {
    output.numbers = NetworkOutput::Numbers::kBytes;
  }
  return output;
}

// Collects the tensors of an output in their order, which may be in tuples, lists and dictionaries.
// Their names are those of fields and keys. Both lists grow together.
void collect(const std::string& name, const c10::IValue& value, std::vector<NetworkOutput>& outputs,
             std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (!value.toTensor().defined()) return;
    outputs.push_back(described(name, value.toTensor()));
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    const auto tuple = value.toTuple();
    const auto& elements = tuple->elements();
    const auto type = tuple->type();
    const auto& schema = type->schema();  // of a named tuple
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const bool named = schema && i < schema->arguments().size();
      collect(named ? schema->arguments()[i].name() : "", elements[i], outputs, tensors);
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) collect(name, element, outputs, tensors);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {  // in the order in which they were added
      collect(entry.key().isString() ? entry.key().toStringRef() : "", entry.value(), outputs,
              tensors);
    }
  }
}

// The numbers of a dense tensor as contiguous floats on the CPU. Bytes that are not quantized are
// parts of 255.
at::Tensor as_row(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.is_quantized() ? tensor.dequantize() : tensor;
  const at::Tensor floats = dense.to(at::kCPU, at::kFloat).contiguous();
  return tensor.scalar_type() == at::kByte ? floats / 255 : floats;
}

class TorchClassifier : public Classifier {
 public:
  TorchClassifier(const ModelArchive& archive, const ClassifierOptions& options)
      : archive_(archive.path()), threads_(std::max(1, options.threads)) {
    const ArchiveContents& contents = read_contents(archive);
    spec_ = read_spec(archive, contents, options.labels, options.stated);
    outputs_ = spec_.labels.size();
    prepare_engine();
    load_torch_operators(options.operator_libraries);
    if (options.operators != nullptr) sampling_ = OperatorSampling::of(*options.operators);
    set_compute_threads(threads_, /*quantized=*/true);
    prepare(archive, options);
    if (device_ != nullptr) measure_device();
    if (options.operators != nullptr && device_ == nullptr)
      note_peak_live_bytes(*options.operators);
    malloc_trim(0);  // frees the memory of loading and unpacking
    operators_ = options.operators;
  }

  const ModelSpec& spec() const override { return spec_; }
  const ModelFacts& facts() const override { return facts_; }
  const DeviceUse& device_use() const override { return device_use_; }
  int threads() const override { return threads_; }

  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override {
    use_this_thread();
    const auto start = Clock::now();
    {
      const c10::InferenceMode inference;
      const at::Tensor scores = scores_of(observed_forward(image, frame));
      const float* begin = scores.data_ptr<float>();
      logits.assign(begin, begin + scores.numel());
    }
    check_scores(archive_, logits);
    add_opposite(spec_, logits);
    if (quantized()) rest_compute_threads();
    if (tuner_) tune(Clock::now() - start);
  }

 private:
  void prepare(const ModelArchive& archive, const ClassifierOptions& options) {
    const TorchDevice::Preparation preparation;
    StartLog log(spec_.name, "is being loaded");
    load(archive, options);
    log.begin("is run for the first times");
    // With one thread if the number is to be chosen: LibTorch 2.6 keeps a pool of more in use, with
    // which an inference takes 750 ms instead of 3 where other programs compute.
    const WarmUp start = warm_up(
        archive_, [this](const ImageTensor& image, auto& numbers) { classify(image, {}, numbers); },
        spec_, facts_);
    log.begin("is run to choose the number of threads");
    start_tuning(options, start);
  }

  void load(const ModelArchive& archive, const ClassifierOptions& options) {
    if (!options.device.name.empty()) device_ = &TorchDevice::open(options.device);
    const c10::Device device = device_ == nullptr ? at::kCPU : device_->device();
    const torch::jit::Module module =
        device_ == nullptr ? load_network(archive) : load_on_device(archive, device);
    if (options.count_parameters) facts_.parameters = counted_parameters(module);
    network_ = TorchNetwork(module, archive_, device);
    network_.describe(spec_.input);
    network_.describe(facts_);
  }

  std::uint64_t counted_parameters(const torch::jit::Module& module) const {
    try {
      return count_parameters(module);
    } catch (const std::exception& error) {
      refuse_model(archive_, "cannot be prepared for inference: " + first_sentence(error));
    }
  }

  // LibTorch has prepared the graph by then, which needs the fallback, too.
  void measure_device() {
    const ImageTensor image = blank_image(spec_.input);
    std::vector<float> logits;
    device_use_ = device_->measure([&] { classify(image, {}, logits); });
    device_use_.bytes_in = image.values.size() * sizeof(float);
    device_use_.bytes_out = logits.size() * sizeof(float);
  }

  bool quantized() const { return network_.quantized(); }

  void note_peak_live_bytes(OperatorProfile& profile) const {
    const auto peak = network_.peak_live_bytes(blank_image(spec_.input));
    if (peak) profile.add_peak_live_bytes(*peak);
  }

  void start_tuning(const ClassifierOptions& options, const WarmUp& start) {
    const bool choose = options.threads == ClassifierOptions::kAutoThreads;
    const int max_threads = choose ? options.processors : options.threads;
    if (max_threads == 1 || (options.keep_threads && !choose)) return;
    tuner_.emplace(max_threads, choose ? ThreadTuner::Start::kTryAll : ThreadTuner::Start::kMax,
                   options.free_processors, ThreadTuner::kBudget, start.left,
                   choose ? start.last_run / max_threads : start.last_run);
    threads_ = tuner_->threads();
    set_compute_threads(threads_, quantized());
    const ImageTensor image = blank_image(spec_.input);
    std::vector<float> logits;
    while (tuner_->starting()) classify(image, {}, logits);
  }

  void tune(Clock::duration inference) {
    const bool starting = tuner_->starting();
    tuner_->record(inference);
    if (tuner_->threads() == threads_) return;
    if (!starting) log_debug("computing threads: {} instead of {}", tuner_->threads(), threads_);
    threads_ = tuner_->threads();
    set_compute_threads(threads_, quantized());
  }

  void use_this_thread() {
    if (thread_ == std::this_thread::get_id()) return;
    thread_ = std::this_thread::get_id();
    adopt_compute_threads(threads_, quantized());
    log_torch_warnings();
  }

  c10::IValue observed_forward(const ImageTensor& image, const FrameContext& frame) {
    const OperatorScope scope(operators_, frame, spec_.name);
    return naming_assumed_size(spec_, [&] { return network_.forward(image); });
  }

  // One row of contiguous floats on the CPU, a number for each output.
  at::Tensor scores_of(const c10::IValue& output) const {
    if (output.isTensor() && is_plain_row(output.toTensor())) {
      return output.toTensor().contiguous();
    }
    std::vector<NetworkOutput> outputs;
    std::vector<at::Tensor> tensors;
    collect({}, output, outputs, tensors);
    if (tensors.empty())
      refuse_model(archive_, "gives " + output.tagKind() + " instead of a tensor");
    return as_row(tensors[choose_scores(archive_, outputs, outputs_)]);
  }

  bool is_plain_row(const at::Tensor& tensor) const {
    const bool row = tensor.dim() == 1 || (tensor.dim() == 2 && tensor.size(0) == 1);
    return row && tensor.layout() == at::kStrided && tensor.scalar_type() == at::kFloat &&
           static_cast<std::size_t>(tensor.numel()) == outputs_;
  }

  std::filesystem::path archive_;
  ModelSpec spec_;
  ModelFacts facts_;
  DeviceUse device_use_;
  std::size_t outputs_ = 0;  // that are scores
  int threads_;
  std::optional<ThreadTuner> tuner_;  // of automatic threads
  OperatorProfile* operators_ = nullptr;
  TorchDevice* device_ = nullptr;  // of one's own; null: the CPU
  std::shared_ptr<OperatorSampling> sampling_;
  TorchNetwork network_;
  std::thread::id thread_;
};

struct ApiUsage {
  Mutex mutex;
  std::map<std::string, std::uint64_t> reports GUARDED_BY(mutex);
};

ApiUsage& usage() {
  static ApiUsage usage;
  return usage;
}

}  // namespace

EngineFacts libtorch_facts() {
  EngineFacts facts;
  facts.version = TORCH_VERSION;
  for (const at::QEngine engine : at::globalContext().supportedQEngines()) {
    if (engine != at::QEngine::NoQEngine) facts.engines.push_back(toString(engine));
  }
  facts.used = "QNNPACK";
  if (!has_qnnpack()) facts.lack = "QNNPACK is needed";
  return facts;
}

void log_libtorch_api_usage() {
  c10::SetAPIUsageLogger([](const std::string& event) {
    ApiUsage& all = usage();
    const MutexLock lock(all.mutex);
    if (++all.reports[event] == 1) log_debug("LibTorch: {} is used", event);
  });
}

std::map<std::string, std::uint64_t> libtorch_api_usage() {
  ApiUsage& all = usage();
  const MutexLock lock(all.mutex);
  return all.reports;
}

std::unique_ptr<Classifier> open_torch_model(const ModelArchive& archive,
                                             const ClassifierOptions& options) {
  return std::make_unique<TorchClassifier>(archive, options);
}

}  // namespace lookout
