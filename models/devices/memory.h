// The memory of the device `meter`: the host's, counted.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace meter {

// Of all tensors on the device.
std::uint64_t live_bytes();
// The most since reset_peak(), or since the start.
std::uint64_t peak_bytes();
void reset_peak();

// The tensor as one of the CPU's, which shares its memory and keeps it.
at::Tensor as_host(const at::Tensor& tensor);

// A copy on the device, with the same sizes and strides.
at::Tensor to_device(const at::Tensor& host);

// Grows the memory to at least `bytes` and keeps what it holds.
void resize_storage(const c10::Storage& storage, std::size_t bytes);

}  // namespace meter
