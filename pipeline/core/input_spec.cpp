#include "pipeline/core/input_spec.h"

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

const char* to_text(PixelScale scale) {
  switch (scale) {
    case PixelScale::kUnit:
      return "0..1";
    case PixelScale::kBytes:
      return "0..255";
    case PixelScale::kSigned:
      return "-1..1";
  }
  return "";
}

std::string problem_of(const Normalisation& stated) {
  if (stated.scale) return "";
  const auto is_above = [](const auto& numbers, float limit) {
    return numbers && std::any_of(numbers->begin(), numbers->end(),
                                  [limit](float number) { return std::abs(number) > limit; });
  };
  constexpr float kMaxMean = 1;
  // That of pixels in 0..1 is below 0.5, and 1 says that there is none.
  constexpr float kMaxStd = 2;
  const bool mean = is_above(stated.mean, kMaxMean);
  if (!mean && !is_above(stated.std, kMaxStd)) return "";
  return std::string("the ") + (mean ? "mean" : "deviation") +
         " is not one of pixels from 0 to 1: say the scale, too, such as 0..255";
}

void apply(const Normalisation& stated, InputSpec& input) {
  if (stated.scale) {
    input.mean = {0, 0, 0};
    input.std = {1, 1, 1};
  }
  if (stated.mean) input.mean = *stated.mean;
  if (stated.std) input.std = *stated.std;
  if (!stated.scale || stated.scale == PixelScale::kUnit) return;
  // scaled = byte / 255 * range + start
  const bool bytes = stated.scale == PixelScale::kBytes;
  const float range = bytes ? 255.0F : 2.0F;
  const float start = bytes ? 0.0F : -1.0F;
  for (float& mean : input.mean) mean = (mean - start) / range;
  for (float& deviation : input.std) deviation /= range;
}

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
