#include "pipeline/model/input_spec.h"

#include <algorithm>
#include <cmath>

namespace lookout {

const char* to_text(ResizeMode mode) {
  switch (mode) {
    case ResizeMode::kCenterSquare:
      return "center-square";
    case ResizeMode::kStretch:
      return "stretch";
    case ResizeMode::kLetterbox:
      return "letterbox";
  }
  return "";
}

const char* to_text(ChannelOrder order) { return order == ChannelOrder::kRgb ? "RGB" : "BGR"; }

// In float, by the reciprocal, with ties to even: LibTorch's kernels compute it like this on every
// processor, so the bytes are equal. See at::native::quantize_val and its vectors in
// https://github.com/pytorch/pytorch/blob/v2.9.1/aten/src/ATen/native/quantized/AffineQuantizerBase.cpp
std::uint8_t InputQuantization::quantize(float value) const {
  const float min = is_signed ? -128.0F : 0.0F;
  const float inverse_scale = 1.0F / scale;
  const float byte = static_cast<float>(zero_point) + std::nearbyint(value * inverse_scale);
  return static_cast<std::uint8_t>(static_cast<int>(std::min(std::max(min, byte), min + 255.0F)));
}

}  // namespace lookout
