#include "pipeline/torch/torch_device.h"

#include <ATen/native/CPUFallback.h>
#include <dlfcn.h>
#include <torch/library.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "pipeline/core/error.h"
#include "pipeline/core/module.h"
#include "pipeline/core/mutex.h"
#include "pipeline/core/printable.h"
#include "pipeline/torch/call_observer.h"
#include "pipeline/torch/torch_graph.h"
#include "pipeline/torch/torch_network.h"

namespace lookout {
namespace {

namespace fs = std::filesystem;

void require_file(const DeviceOptions& options, const std::string& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return;
  const std::string way_out = options.plugin.empty()
                                  ? "; --device-plugin FILE names the library of the device"
                                  : " (--device-plugin)";
  throw Error(ErrorKind::kNoInput, "--device " + options.name + ": there is no " + path + way_out);
}

// A name without a slash is no file for dlopen().
void* open_plugin(const std::string& path) {
  void* library = open_library(fs::absolute(path).string());
  if (library == nullptr) {
    const char* why = ::dlerror();
    throw Error(ErrorKind::kBadData, path + " cannot be loaded as a device plug-in: " +
                                         first_line(why == nullptr ? "" : why));
  }
  return library;
}

const DevicePlugin& table_of(void* library, const std::string& path) {
  const auto entry = reinterpret_cast<const DevicePlugin* (*)()>(::dlsym(library, kDeviceEntry));
  if (entry == nullptr || entry() == nullptr) {
    throw Error(ErrorKind::kBadData, path + " is no device plug-in: it has no function " +
                                         kDeviceEntry + "() (see pipeline/torch/device_plugin.h)");
  }
  return *entry();
}

void check(const DevicePlugin& plugin, const DeviceOptions& options, const std::string& path) {
  if (plugin.interface != kDeviceInterface) {
    throw Error(ErrorKind::kNoInput, path + " has interface " + std::to_string(plugin.interface) +
                                         " for devices, this lookout has " +
                                         std::to_string(kDeviceInterface) +
                                         "; build it with this lookout's device_plugin.h");
  }
  if (std::strcmp(plugin.torch_version, TORCH_VERSION) != 0) {
    throw Error(ErrorKind::kNoInput, path + " was built for LibTorch " +
                                         printable(plugin.torch_version) + ", this is LibTorch " +
                                         TORCH_VERSION + "; build it again for this one");
  }
  if (options.name != plugin.name) {
    throw Error(ErrorKind::kUsage, "--device " + options.name + ": " + path +
                                       " is for another one: --device " + printable(plugin.name));
  }
}

// ---- Calls

// Calls `use` with each tensor on the device.
template <typename Values, typename Use>
void for_each_device_tensor(const Values& values, const Use& use) {
  for (const c10::IValue& value : values) {
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      if (tensor.device().type() == c10::DeviceType::PrivateUse1) use(tensor);
    });
  }
}

std::uint64_t device_bytes(const std::vector<c10::IValue>& values) {
  std::uint64_t bytes = 0;
  for_each_device_tensor(values, [&bytes](const at::Tensor& tensor) { bytes += tensor.nbytes(); });
  return bytes;
}

std::vector<c10::IValue> last_of(const torch::jit::Stack& stack, std::size_t count) {
  return {stack.end() - static_cast<std::ptrdiff_t>(count), stack.end()};
}

// Copies are what a device does between calls. Views and new tensors compute nothing.
bool computes(const c10::FunctionSchema& schema) {
  constexpr std::array<std::string_view, 6> kCopies{
      "aten::_copy_from", "aten::_copy_from_and_resize", "aten::copy_", "aten::_to_copy",
      "aten::resize_",    "aten::_local_scalar_dense"};
  if (std::find(kCopies.begin(), kCopies.end(), schema.name()) != kCopies.end()) return false;
  const bool view =
      std::any_of(schema.returns().begin(), schema.returns().end(), [](const auto& result) {
        return result.alias_info() != nullptr && !result.alias_info()->isWrite();
      });
  return !view && schema.name().rfind("aten::set_", 0) != 0;
}

// Whether the device has a kernel of its own for this call.
bool runs_on_device(const at::RecordFunction& function) {
  const auto name = function.operator_name();
  if (!name) return false;
  const auto op = c10::Dispatcher::singleton().findSchema(*name);
  if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) return false;
  bool gets_device_tensor = false;
  for_each_device_tensor(operands_of(function),
                         [&](const at::Tensor&) { gets_device_tensor = true; });
  return gets_device_tensor && computes(op->schema());
}

// Runs an operator on the CPU: its arguments move there, its results back.
void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

// Counts the calls of operators on the device, and of those that fall back to the CPU. Calls within
// them are parts of them.
class DeviceCallCounter : public CallObserver {
 public:
  explicit DeviceCallCounter(const DevicePlugin& plugin) : plugin_(plugin) {}

  bool takes(const at::RecordFunction& function, bool sampled) override {
    return !sampled && depth() == 0 && runs_on_device(function);
  }

  void begin(ObservedCall& call, bool /*sampled*/) override {
    begin(c10::toString(*call.function->operator_name()));
  }

  void end(const ObservedCall& call, Clock::time_point time) override {
    ++add(time - call.start).on_device;
  }

  // Runs an operator on the CPU, whose arguments are on the stack, and counts it.
  void fall_back(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    if (depth() > 0) return run_on_cpu(op, stack);
    const auto inputs = last_of(*stack, op.schema().arguments().size());
    std::uint64_t moved = device_bytes(inputs);
    begin(c10::toString(op.operator_name()));
    const PartsOfCall parts;
    const Clock::time_point start = Clock::now();
    run_on_cpu(op, stack);
    const auto outputs = last_of(*stack, op.schema().returns().size());
    moved += device_bytes(outputs);
    if (plugin_.fallen_back != nullptr) plugin_.fallen_back(op, inputs, outputs);
    DeviceCalls& calls = add(Clock::now() - start);
    ++calls.fallen_back;
    calls.bytes_moved += moved;
  }

  // The calls so far, without the facts of the device.
  const DeviceUse& use() const { return use_; }

 private:
  void begin(std::string op) {
    row_ = {std::move(op), current_layer()};
    if (plugin_.reset != nullptr) plugin_.reset();
  }

  DeviceCalls& add(Clock::duration time) {
    const auto [row, is_new] = rows_.try_emplace(row_, use_.calls.size());
    if (is_new) {
      DeviceCalls& added = use_.calls.emplace_back();
      std::tie(added.op, added.layer) = row_;
    }
    DeviceCalls& calls = use_.calls[row->second];
    calls.time += time;
    if (plugin_.costs != nullptr) {
      const DeviceCosts costs = plugin_.costs();
      calls.multiply_adds += costs.multiply_adds;
      calls.bytes_read += costs.bytes_read;
      calls.bytes_written += costs.bytes_written;
      calls.peak_bytes = std::max(calls.peak_bytes, costs.peak_bytes);
    }
    return calls;
  }

  using Row = std::pair<std::string, std::string>;  // of an operator and a layer

  const DevicePlugin& plugin_;
  DeviceUse use_;
  Row row_;  // of the call that has begun
  std::map<Row, std::size_t> rows_;
};

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
  auto* const counter = dynamic_cast<DeviceCallCounter*>(CallObserver::current());
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

std::string device_plugin_path(const DeviceOptions& options) {
  if (!options.plugin.empty()) return options.plugin;
  return module_path("liblookout-" + options.name + ".so").string();
}

const DevicePlugin& load_device_plugin(const DeviceOptions& options) {
  const std::string path = device_plugin_path(options);
  require_file(options, path);
  const DevicePlugin& plugin = table_of(open_plugin(path), path);
  check(plugin, options, path);
  return plugin;
}

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
    DeviceCallCounter counter(plugin_);
    const Observation observation(counter, report_all_calls().needsInputs(true));
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
