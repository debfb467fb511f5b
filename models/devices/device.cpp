// The device `meter` as LibTorch sees it: its guard, its generator of random numbers, and labels,
// which are saved and loaded with a tensor.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/jit/serialization/pickler.h>
#include <torch/library.h>

#include <string>
#include <unordered_map>

#include "models/devices/memory.h"

namespace meter {
namespace {

constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

// One device without streams needs no switching.
using Guard = c10::impl::NoOpDeviceGuardImpl<kDevice>;
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

// The CPU's numbers, under the device's name.
class Generator : public at::CPUGeneratorImpl {
 public:
  explicit Generator(c10::DeviceIndex index) {
    device_ = c10::Device(kDevice, index);
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::PrivateUse1);
  }
};

class Hooks : public at::PrivateUse1HooksInterface {
 public:
  bool hasPrimaryContext(c10::DeviceIndex /*index*/) const override { return true; }
  bool isPinnedPtr(const void* /*data*/) const override { return false; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*index*/) const override {
    static const at::Generator generator = at::make_generator<Generator>(0);
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return at::make_generator<Generator>(index < 0 ? static_cast<c10::DeviceIndex>(0) : index);
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    resize_storage(storage, bytes);
  }
};

struct Label : c10::BackendMeta {
  explicit Label(std::string label) : text(std::move(label)) {}
  std::string text;
};

std::string label_of(const at::Tensor& tensor) {
  const auto* label = dynamic_cast<Label*>(tensor.unsafeGetTensorImpl()->get_backend_meta());
  return label == nullptr ? "" : label->text;
}

void set_label(const at::Tensor& tensor, std::string text) {
  tensor.unsafeGetTensorImpl()->set_backend_meta(c10::make_intrusive<Label>(std::move(text)));
}

using Saved = std::unordered_map<std::string, bool>;

void save_label(const at::Tensor& tensor, Saved& saved) {
  const std::string text = label_of(tensor);
  if (!text.empty()) saved[text] = true;
}

void load_label(const at::Tensor& tensor, Saved& saved) {
  if (!saved.empty()) set_label(tensor, saved.begin()->first);
}

TORCH_LIBRARY(meter, library) {
  library.def("label(Tensor self) -> str", label_of);
  library.def("set_label(Tensor self, str text) -> ()", set_label);
}

bool register_device() {
  static Hooks hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
  torch::jit::TensorBackendMetaRegistry(kDevice, save_label, load_label);
  return true;
}

const bool kRegistered = register_device();

}  // namespace
}  // namespace meter
