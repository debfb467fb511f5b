#include "pipeline/torch/torch_device.h"

#include <c10/util/Exception.h>
#include <torch/library.h>
#include <torch/version.h>

#include <atomic>
#include <stdexcept>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/mutex.h"
#include "pipeline/torch/torch_device_calls.h"
#include "pipeline/torch/torch_device_plugin.h"
#include "pipeline/torch/torch_graph.h"
#include "pipeline/torch/torch_network.h"

namespace lookout {
namespace {

constexpr bool kHasDevices = TORCH_VERSION_MAJOR > 2 ||
                             (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1);

std::atomic<bool> forbidden{false};
thread_local int preparations = 0;
thread_local std::string refusal;

[[noreturn]] void refuse(const c10::OperatorHandle& op) {
  const std::string layer = current_layer();
  refusal = "the device " + c10::DeviceTypeName(c10::DeviceType::PrivateUse1, /*lower_case=*/true) +
            " has no kernel for " + c10::toString(op.operator_name()) +
            (layer.empty() ? "" : " in layer " + layer) +
            ", and --device-fallback forbids the CPU's";
  throw std::runtime_error(refusal);
}

// What LibTorch calls for an operator without a kernel of the device.
void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  if (forbidden && preparations == 0) refuse(op);
  DeviceCallCounter* counter = DeviceCallCounter::current();
  if (counter != nullptr) {
    counter->fall_back(op, stack);
  } else {
    run_on_cpu(op, stack);
  }
}

void require_libtorch() {
  if (kHasDevices) return;
  throw Error(ErrorKind::kUnsupported,
              "--device needs LibTorch 2.1 or later, this is LibTorch " TORCH_VERSION
              "; without --device the CPU computes");
}

bool same(const DeviceOptions& a, const DeviceOptions& b) {
  return a.name == b.name && a.plugin == b.plugin;
}

}  // namespace

TorchDevice& TorchDevice::open(const DeviceOptions& options) {
  require_libtorch();
  static Mutex mutex;
  static TorchDevice* opened = nullptr;  // never destroyed: LibTorch goes on calling the fallback
  const MutexLock lock(mutex);
  if (opened == nullptr) opened = new TorchDevice(options);
  if (!same(opened->options_, options)) {
    throw Error(ErrorKind::kUnsupported, "--device " + options.name +
                                             ": this process uses the device " +
                                             opened->options_.name + " already");
  }
  forbidden = options.forbid_fallback;
  return *opened;
}

TorchDevice::TorchDevice(const DeviceOptions& options)
    : options_(options), plugin_(load_device_plugin(options)) {
  try {
    register_fallback();
    plugin_.open();
  } catch (const std::exception& error) {
    throw Error(ErrorKind::kInternal, "the device " + options.name + " cannot be opened (" +
                                          device_plugin_path(options) +
                                          "): " + first_sentence(error));
  }
}

void TorchDevice::register_fallback() {
  static auto* const library = new torch::Library(
      torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, "torch_device.cpp", __LINE__);
  library->fallback(torch::CppFunction::makeFromBoxedFunction<fall_back>());
}

TorchDevice::Preparation::Preparation() { ++preparations; }

TorchDevice::Preparation::~Preparation() { --preparations; }

DeviceUse TorchDevice::measure(const std::function<void()>& frame) {
  const std::uint64_t before = plugin_.costs == nullptr ? 0 : plugin_.costs().live_bytes;
  const auto start = std::chrono::steady_clock::now();
  DeviceUse use;
  {
    const DeviceCallCounter counter(plugin_);
    frame();
    use = counter.use();
  }
  use.time = std::chrono::steady_clock::now() - start;
  use.device = plugin_.name;
  use.plugin = device_plugin_path(options_);
  use.counts_costs = plugin_.costs != nullptr;
  use.resident_bytes = before;
  for (DeviceCalls& calls : use.calls) calls.peak_bytes -= std::min(calls.peak_bytes, before);
  return use;
}

std::string TorchDevice::take_refusal() { return std::exchange(refusal, {}); }

}  // namespace lookout
