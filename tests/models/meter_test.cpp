// The device meter as LibTorch sees it: names, guard, generator, memory, and labels that are saved.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceGuard.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/torch.h>

#include <string>

#include "pipeline/torch/torch_device.h"

namespace lookout {
namespace {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
const std::string kNameAtTheStart = c10::get_privateuse1_backend();

class MeterInLibTorch : public testing::Test {
 protected:
  MeterInLibTorch() : device_(TorchDevice::open({"meter", "", false}).device()) {}

  at::Tensor on_device(const at::Tensor& tensor) const { return tensor.to(device_); }

  const c10::Device device_;
};

TEST_F(MeterInLibTorch, TheNameIsOnlyGivenWhenTheDeviceIsOpened) {
  EXPECT_EQ(kNameAtTheStart, "privateuseone");
  EXPECT_EQ(c10::get_privateuse1_backend(), "meter");
  EXPECT_EQ(c10::Device("meter:0"), device_);
}

TEST_F(MeterInLibTorch, TensorsComeBackAsTheyWent) {
  const at::Tensor numbers = torch::arange(24).reshape({2, 3, 4}).transpose(0, 2);
  const at::Tensor moved = on_device(numbers);
  EXPECT_EQ(moved.device(), device_);
  EXPECT_EQ(moved.strides(), numbers.strides());
  EXPECT_TRUE(moved.cpu().equal(numbers));
  EXPECT_TRUE(moved.transpose(0, 2).view({6, 4}).cpu().equal(torch::arange(24).view({6, 4})));
  EXPECT_TRUE((moved + moved).cpu().equal(numbers + numbers));
}

TEST_F(MeterInLibTorch, AResizedTensorKeepsItsValues) {
  at::Tensor tensor = on_device(torch::arange(4));
  tensor.resize_({100});
  EXPECT_TRUE(tensor.slice(0, 0, 4).cpu().equal(torch::arange(4)));
}

TEST_F(MeterInLibTorch, AGuardSwitchesToTheDevice) {
  const c10::DeviceGuard guard(device_);
  EXPECT_EQ(guard.current_device().type(), kType);
  EXPECT_EQ(c10::impl::VirtualGuardImpl(kType).deviceCount(), 1);
}

TEST_F(MeterInLibTorch, GeneratorsOfOneSeedGiveTheSameNumbers) {
  const auto numbers = [](std::uint64_t seed) {
    at::Generator generator = at::detail::getPrivateUse1Hooks().getNewGenerator(0);
    EXPECT_EQ(generator.device().type(), kType);
    generator.set_current_seed(seed);
    auto* numbers = dynamic_cast<at::CPUGeneratorImpl*>(generator.unsafeGetGeneratorImpl());
    return std::pair(numbers->random64(), numbers->random64());
  };
  EXPECT_EQ(numbers(7), numbers(7));
  EXPECT_NE(numbers(7), numbers(8));
}

std::string label_of(const at::Tensor& tensor) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("meter::label", "");
  return op.typed<std::string(const at::Tensor&)>().call(tensor);
}

void set_label(const at::Tensor& tensor, const std::string& text) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("meter::set_label", "");
  op.typed<void(const at::Tensor&, std::string)>().call(tensor, text);
}

TEST_F(MeterInLibTorch, ALabelIsSavedAndLoadedWithItsTensor) {
  if (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 9) {
    GTEST_SKIP() << "LibTorch " TORCH_VERSION " keeps to itself what saves metadata of devices";
  }
  const at::Tensor tensor = on_device(torch::arange(6).reshape({2, 3}));
  EXPECT_EQ(label_of(tensor), "");
  set_label(tensor, "weights of the gate");
  const at::Tensor loaded = torch::pickle_load(torch::pickle_save(tensor)).toTensor();
  EXPECT_EQ(loaded.device(), device_);
  EXPECT_TRUE(loaded.cpu().equal(tensor.cpu()));
  EXPECT_EQ(label_of(loaded), "weights of the gate");
}

}  // namespace
}  // namespace lookout
