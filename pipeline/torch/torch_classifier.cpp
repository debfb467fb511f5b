#include "pipeline/torch/torch_classifier.h"

#include <c10/util/Logging.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <vector>

#include "pipeline/core/error.h"
#include "pipeline/core/log.h"
#include "pipeline/core/mutex.h"
#include "pipeline/model/network_output.h"
#include "pipeline/torch/torch_embedder.h"
#include "pipeline/torch/torch_inference.h"
#include "pipeline/torch/torch_network.h"

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
      : archive_(archive.path()),
        inference_(archive,
                   read_spec(archive, read_contents(archive), options.labels, options.stated),
                   options),
        outputs_(inference_.spec().labels.size()) {
    inference_.start(archive, options, nullptr, [this](const ImageTensor& image, auto& numbers) {
      classify(image, {}, numbers);
    });
  }

  const ModelSpec& spec() const override { return inference_.spec(); }
  const ModelFacts& facts() const override { return inference_.facts(); }
  const DeviceUse& device_use() const override { return inference_.device_use(); }
  int threads() const override { return inference_.threads(); }

  void classify(const ImageTensor& image, const FrameContext& frame,
                std::vector<float>& logits) override {
    inference_.run(image, frame, [&](const c10::IValue& output) {
      const at::Tensor scores = scores_of(output);
      const float* begin = scores.data_ptr<float>();
      logits.assign(begin, begin + scores.numel());
    });
    check_scores(archive_, logits);
    add_opposite(spec(), logits);
  }

 private:
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
  TorchInference inference_;
  std::size_t outputs_;  // that are scores
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

std::shared_ptr<Backbone> open_torch_backbone(const ModelArchive& base,
                                              const ClassifierOptions& options) {
  return std::make_shared<TorchEmbedder>(base, options, TorchEmbedder::Purpose::kFrames);
}

}  // namespace lookout
