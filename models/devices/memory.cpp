#include "models/devices/memory.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace meter {
namespace {

constexpr c10::DeviceType kDevice = c10::DeviceType::PrivateUse1;

std::atomic<std::uint64_t> live{0};
std::atomic<std::uint64_t> peak{0};

struct Block {
  void* data;
  std::size_t bytes;
};

void free_block(void* context) {
  const auto* block = static_cast<Block*>(context);
  live -= block->bytes;
  c10::free_cpu(block->data);
  delete block;
}

class Allocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto* block = new Block{c10::alloc_cpu(bytes), bytes};
    const std::uint64_t now = live += bytes;
    std::uint64_t before = peak;
    while (before < now && !peak.compare_exchange_weak(before, now)) {
    }
    return {block->data, block, free_block, c10::Device(kDevice, 0)};
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(kDevice, &allocator)

// ---- the kernels that create, view and copy tensors

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                 std::optional<at::Layout> /*layout*/, std::optional<at::Device> /*device*/,
                 std::optional<bool> /*pinned*/, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, &allocator, kKeys, c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides,
                         std::optional<at::ScalarType> type, std::optional<at::Layout> /*layout*/,
                         std::optional<at::Device> /*device*/, std::optional<bool> /*pinned*/) {
  return at::detail::empty_strided_generic(sizes, strides, &allocator, kKeys,
                                           c10::dtype_or_default(type));
}

at::Tensor host_side(const at::Tensor& tensor) {
  return tensor.device().type() == kDevice ? as_host(tensor) : tensor;
}

// One of the two is on the device.
at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool /*non_blocking*/) {
  host_side(to).copy_(host_side(from));
  return to;
}

const at::Tensor& resize(const at::Tensor& tensor, at::IntArrayRef sizes,
                         std::optional<at::MemoryFormat> format) {
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(sizes);
  if (format && *format != at::MemoryFormat::Contiguous) impl->empty_tensor_restride(*format);
  const auto elements = static_cast<std::size_t>(tensor.numel() + tensor.storage_offset());
  resize_storage(tensor.storage(), elements * tensor.element_size());
  return tensor;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes()) resize(to, from.sizes(), std::nullopt);
  return copy_from(from, to, false);
}

// For tensors that are read from a file.
at::Tensor& set_storage(at::Tensor& tensor, at::Storage source, std::int64_t offset,
                        at::IntArrayRef sizes, at::IntArrayRef strides) {
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  if (strides.empty() && !sizes.empty()) {
    impl->set_sizes_contiguous(sizes);
  } else {
    impl->set_sizes_and_strides(sizes, strides);
  }
  return tensor;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("resize_", resize);
  library.impl("set_.source_Storage_storage_offset", set_storage);
  library.impl("as_strided", at::native::as_strided_tensorimpl);
  library.impl("view", at::native::view);
  library.impl("_reshape_alias", at::native::_reshape_alias);
}

}  // namespace

std::uint64_t live_bytes() { return live; }

std::uint64_t peak_bytes() { return peak; }

void reset_peak() { peak = live.load(); }

at::Tensor as_host(const at::Tensor& tensor) {
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), [tensor](void* /*data*/) {},
      tensor.options().device(at::kCPU));
}

at::Tensor to_device(const at::Tensor& host) {
  at::Tensor tensor =
      at::empty_strided(host.sizes(), host.strides(), host.options().device(kDevice));
  copy_from(host, tensor, false);
  return tensor;
}

void resize_storage(const c10::Storage& storage, std::size_t bytes) {
  if (bytes <= storage.nbytes()) return;
  c10::DataPtr data = allocator.allocate(bytes);
  std::memcpy(data.get(), storage.data(), storage.nbytes());
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
  storage.unsafeGetStorageImpl()->set_nbytes(bytes);
}

}  // namespace meter
