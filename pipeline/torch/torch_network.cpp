#include "pipeline/torch/torch_network.h"

#include <ATen/quantized/Quantizer.h>
#include <c10/util/Exception.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/runtime/graph_iterator.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "pipeline/archive/engine_facts.h"
#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/printable.h"
#include "pipeline/torch/call_observer.h"
#include "pipeline/torch/torch_blas.h"
#include "pipeline/torch/torch_device.h"
#include "pipeline/torch/torch_graph.h"

namespace lookout {
namespace {

// Gives LibTorch an archive's bytes.
class ArchiveReader : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t size() const override { return bytes_.size(); }

  std::size_t read(std::uint64_t position, void* to, std::size_t count,
                   const char* /*what*/) const override {
    return position > bytes_.size() ? 0 : bytes_.copy(static_cast<char*>(to), count, position);
  }

 private:
  std::string_view bytes_;
};

// Logs what print() of an archive's code writes. `text` ends with a newline.
void log_print(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  log_info("the model prints: {}", text.substr(0, end == std::string::npos ? 0 : end + 1));
}

std::string kernels_of(const std::string& activations) {
  if (activations == "qint8") return "XNNPACK";
  return activations == "quint8" ? "QNNPACK" : "float";
}

[[noreturn]] void refuse_quantized(const std::filesystem::path& archive) {
  refuse_model(archive,
               "is quantized: its weights are packed for the CPU's kernels; a --device takes the "
               "float model, which models/export.py --activations float32 makes");
}

c10::IValue to_cpu(const c10::IValue& output) {
  return output.isTensor() ? c10::IValue(output.toTensor().cpu()) : output;
}

c10::ScalarType type_of(const InputQuantization& quantization) {
  return quantization.is_signed ? at::kQInt8 : at::kQUInt8;
}

// ---- The memory of tensors

using Storages = std::unordered_set<const c10::StorageImpl*>;

void add_storage(const at::Tensor& tensor, Storages& storages) {
  if (tensor.has_storage()) storages.insert(tensor.storage().unsafeGetStorageImpl());
}

// Tensors in the graph; a frozen module has its weights there.
void add_constants(std::shared_ptr<torch::jit::Graph> graph, Storages& storages) {
  torch::jit::DepthFirstGraphNodeIterator nodes(graph);
  while (torch::jit::Node* node = nodes.next()) {
    if (node->kind() != c10::prim::Constant) continue;
    const auto content = torch::jit::toIValue(node->output());
    if (!content) continue;
    for_each_tensor(*content, [&](const at::Tensor& tensor) { add_storage(tensor, storages); });
  }
}

// A function of an archive keeps a copy of its graph with all that it calls. What froze the module
// has inlined the calls, and the copies of some thousand nodes would stay as long as the module.
void free_inlined_graphs(const torch::jit::Module& frozen) {
  for (torch::jit::Function* function : frozen._ivalue()->compilation_unit()->get_functions()) {
    if (function == nullptr) continue;  // was removed
    auto* graph = torch::jit::tryToGraphFunction(*function);
    if (graph != nullptr) graph->clear_optimized_graphs();  // made again when it is called
  }
}

bool forks(std::shared_ptr<torch::jit::Graph> graph) {
  torch::jit::DepthFirstGraphNodeIterator nodes(graph);
  while (const torch::jit::Node* node = nodes.next()) {
    if (node->kind() == c10::prim::fork) return true;
  }
  return false;
}

// LibTorch's own reports do not tell it: the allocator of quantized operators reports what it
// allocates and never what it frees.
class LiveBytes : public CallObserver {
 public:
  explicit LiveBytes(const torch::jit::Module& module) {
    add_constants(module.get_method("forward").graph(), constants_);
    for (const at::Tensor& tensor : module.parameters()) add_storage(tensor, constants_);
    for (const at::Tensor& tensor : module.buffers()) add_storage(tensor, constants_);
  }

  bool takes(const at::RecordFunction& function, bool sampled) override {
    return !sampled && depth() == 0 && !is_label(function);
  }

  void begin(ObservedCall& call, bool /*sampled*/) override {
    for (const c10::IValue& operand : operands_of(*call.function)) note(operand);
    for (auto entry = known_.begin(); entry != known_.end();) {
      entry = entry->second.expired() ? known_.erase(entry) : std::next(entry);
    }
  }

  // What was alive as the call began, and its results.
  void end(const ObservedCall& call, Clock::time_point /*time*/) override {
    for (const c10::IValue& result : call.function->outputs()) note(result);
    std::uint64_t bytes = 0;
    for (const auto& [storage, alive] : known_) bytes += storage->nbytes();
    peak_ = std::max(peak_, bytes);
  }

  std::uint64_t peak() const { return peak_; }

 private:
  void note(const c10::IValue& value) {
    for_each_tensor(value, [this](const at::Tensor& tensor) {
      if (!tensor.has_storage()) return;
      const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
      if (constants_.count(storage) > 0) return;
      known_.try_emplace(storage, tensor.storage().getWeakStorageImpl());
    });
  }

  Storages constants_;
  // A weak pointer keeps the object, so that no other one gets its address.
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> known_;
  std::uint64_t peak_ = 0;
};

// ---- Warnings

constexpr std::size_t kMaxWarnings = 100;  // that differ

class WarningLog : public c10::WarningHandler {
 public:
#if TORCH_VERSION_MAJOR < 2
  void process(const c10::SourceLocation& /*place*/, const std::string& text,
               const bool /*verbatim*/) override {
    log(text);
  }
#else
  void process(const c10::Warning& warning) override { log(warning.msg()); }
#endif

 private:
  void log(const std::string& text) EXCLUDES(mutex_) {
    const std::string line = first_line(text);
    const MutexLock lock(mutex_);
    if (logged_.size() < kMaxWarnings && logged_.insert(line).second) {
      log_info("LibTorch warns: {}", line);
    }
  }

  Mutex mutex_;
  std::set<std::string> logged_ GUARDED_BY(mutex_);
};

}  // namespace

void log_torch_warnings() {
  static WarningLog log;
#if TORCH_VERSION_MAJOR < 2
  c10::Warning::set_warning_handler(&log);
#else
  c10::WarningUtils::set_warning_handler(&log);
#endif
}

bool has_qnnpack() {
  const auto& engines = at::globalContext().supportedQEngines();
  return std::find(engines.begin(), engines.end(), at::QEngine::QNNPACK) != engines.end();
}

void prepare_engine() {
  if (!has_qnnpack()) {
    throw Error(ErrorKind::kInternal,
                "this LibTorch was built without QNNPACK; use one that has it (see README.md)");
  }
  at::globalContext().setQEngine(at::QEngine::QNNPACK);
  torch::jit::setPrintHandler(log_print);
  log_torch_warnings();
}

torch::jit::Module load_network(const ModelArchive& archive, c10::Device device) {
  try {
    torch::jit::Module module =
        torch::jit::load(std::make_shared<ArchiveReader>(archive.bytes()), device);
    module.eval();
    require_one_picture(module, archive.path());
    return module;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    refuse_to_load(archive, error);
  }
}

torch::jit::Module load_on_device(const ModelArchive& archive, c10::Device device) {
  if (has_packed_weights(load_network(archive))) refuse_quantized(archive.path());
  return load_network(archive, device);
}

TorchNetwork::TorchNetwork(const torch::jit::Module& module, std::filesystem::path archive,
                           c10::Device device)
    : archive_(std::move(archive)), device_(device) {
  try {
    const ReplacedFloats replaced = replace_floats(module);
    module_ = torch::jit::freeze(module);
    const torch::jit::Method method = module_.get_method("forward");
    replace_floats(method.graph(), replaced);
    keep_layers(*method.graph()->block(), method.function());
    activations_ = find_activations(*method.graph()->block());
    if (!device_.is_cpu() && quantized()) refuse_quantized(archive_);
    quantization_ = take_input_quantization(method.graph());
    if (quantization_) {
      flip_ = take_input_flip(method.graph()).value_or(InputFlip());
    } else {  // its flip stays: float networks report the operators that Python reports
      copies_input_ = aliases_or_mutates_input(method.graph());
    }
    free_inlined_graphs(module_);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    refuse_model(archive_, failure_text("cannot be prepared for inference", error));
  }
}

void TorchNetwork::describe(InputSpec& input) const {
  input.quantization = quantization_;
  input.flip_x = flip_.x;
  input.flip_y = flip_.y;
}

// Shares the image's memory, [1][height][width][3] seen as [1, 3, height, width], unless the model
// keeps or changes its input.
at::Tensor TorchNetwork::as_input(const ImageTensor& image) const {
  const std::array<std::int64_t, 4> sizes{1, 3, image.height, image.width};
  const std::array<std::int64_t, 4> strides{image.height * image.width * 3, 1, image.width * 3, 3};
  if (!quantization_ || image.bytes.empty()) {
    const at::Tensor values =
        torch::from_blob(const_cast<float*>(image.values.data()), sizes, strides, at::kFloat);
    if (!quantization_) return copies_input_ ? values.clone() : values;
    return at::quantize_per_tensor(values, quantization_->scale, quantization_->zero_point,
                                   type_of(*quantization_));
  }
  return at::from_blob_quantized_per_tensor_affine(
      const_cast<std::uint8_t*>(image.bytes.data()), sizes, strides, [](void*) {},
      quantization_->scale, quantization_->zero_point, type_of(*quantization_));
}

c10::IValue TorchNetwork::forward(const ImageTensor& image) {
  try {
    if (device_.is_cpu()) return module_.forward({as_input(image)});
    return to_cpu(module_.forward({as_input(image).to(device_)}));
  } catch (const std::exception& error) {
    const std::string refusal = TorchDevice::take_refusal();
    if (!refusal.empty()) refuse_model(archive_, refusal);
    if (device_.is_cpu() && takes_channels_last(image)) {
      refuse_model(archive_,
                   "takes pictures as [1, height, width, 3] (NHWC), but lookout gives [1, 3, "
                   "height, width]; put x = x.permute(0, 2, 3, 1) in front of its forward");
    }
    refuse_model(archive_, failure_text("fails while classifying", error));
  }
}

// Whether the network, which fails with this picture, runs with the same values in the other shape.
bool TorchNetwork::takes_channels_last(const ImageTensor& image) {
  if (image.values.empty()) return false;
  try {
    const std::array<std::int64_t, 4> sizes{1, image.height, image.width, 3};
    module_.forward(
        {torch::from_blob(const_cast<float*>(image.values.data()), sizes, at::kFloat).clone()});
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::optional<std::uint64_t> TorchNetwork::peak_live_bytes(const ImageTensor& image) const {
  try {
    const auto graph = module_.get_method("forward").graph();
    if (forks(graph)) return std::nullopt;
    const c10::InferenceMode inference;
    LiveBytes live(module_);
    const Observation observation(live, report_all_calls().needsInputs(true).needsOutputs(true));
    // By the interpreter itself: an executor would fuse operators into kernels that report no
    // calls.
    const torch::jit::Code code(graph, "forward");
    torch::jit::Stack stack{module_._ivalue()};
    stack.emplace_back(as_input(image));  // an initializer list would keep it
    torch::jit::InterpreterState(code).run(stack);
    return live.peak();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void TorchNetwork::describe(ModelFacts& facts) const {
  facts.library = to_text(Engine::kTorch);
  facts.samples_operators = true;
  facts.version = TORCH_VERSION;
  facts.engine = toString(at::globalContext().qEngine());
  facts.activations = activations_;
  facts.kernels = kernels_of(activations_);
  if (device_.is_cpu() && !quantized()) facts.advice = blas_advice(blas_library());
}

}  // namespace lookout
