// The input of a model: its size, its values and its memory layout.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookout {

inline constexpr int kMaxInputSide = 4096;  // pixels; a larger input is a mistake, not a model

// How a picture is brought to the model's size.
enum class ResizeMode {
  kCenterSquare,  // the largest centered part with the model's aspect ratio, scaled
  kStretch,       // the whole picture, without keeping its aspect ratio
  kLetterbox,     // the whole picture, centered; the rest is filled with the mean color
};
const char* to_text(ResizeMode mode);

enum class ChannelOrder { kRgb, kBgr };
const char* to_text(ChannelOrder order);

// The range of pixels before the mean is subtracted.
enum class PixelScale { kUnit, kBytes, kSigned };
const char* to_text(PixelScale scale);  // "0..1", "0..255", "-1..1"

// The order of an image's values.
enum class TensorLayout {
  kChannelsLast,  // [height][width][3]
  kPlanar,        // [3][height][width]
};

// The first operation of a quantized model:
// byte = round(value / scale) + zero_point, clamped to the range of a byte.
struct InputQuantization {
  float scale = 1;         // above 0
  int zero_point = 0;      // within the range
  bool is_signed = false;  // -128..127 in two's complement; otherwise 0..255

  // Gives the same byte as LibTorch's quantize_per_tensor.
  std::uint8_t quantize(float value) const;
};

// The preprocessing part of a model's spec. The defaults are those of ImageNet models.
struct InputSpec {
  int width = 224;   // pixels
  int height = 224;  // pixels
  // Value of a channel = (byte / 255 - mean) / std, in the model's channel order. Source of the
  // numbers: https://pytorch.org/vision/stable/models.html
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  std::array<float, 3> std{0.229F, 0.224F, 0.225F};
  ChannelOrder channel_order = ChannelOrder::kRgb;
  ResizeMode resize = ResizeMode::kCenterSquare;
  // Read from the model's graph, not from the archive's metadata, as is the quantization.
  TensorLayout layout = TensorLayout::kChannelsLast;
  // Set when the classifier takes bytes that are already quantized.
  std::optional<InputQuantization> quantization;
  // The classifier takes flipped images: its model flipped them first, and that step was removed.
  bool flip_x = false;  // left and right
  bool flip_y = false;  // top and bottom
};

// How a user, or another program, says what the values are: (pixel in `scale` - mean) / std.
struct Normalisation {
  std::optional<PixelScale> scale;           // nothing: 0..1
  std::optional<std::array<float, 3>> mean;  // of a scale alone: 0
  std::optional<std::array<float, 3>> std;   // above 0; of a scale alone: 1
};

// Why it cannot be meant, as a sentence that begins with "the mean" or "the deviation"; empty: it
// can. Numbers for 0..255 without that scale would make every picture black.
std::string problem_of(const Normalisation& stated);

// Takes over what is stated, and keeps the rest. A scale replaces mean and deviation, too.
void apply(const Normalisation& stated, InputSpec& input);

// An image in the order of InputSpec::layout, flipped as it says: of floats, or of bytes quantized
// as InputSpec::quantization says. The other vector is empty.
struct ImageTensor {
  int width = 0;
  int height = 0;
  std::vector<float> values;
  std::vector<std::uint8_t> bytes;
};

}  // namespace lookout
