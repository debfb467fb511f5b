#include "pipeline/archive/onnx_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace lookout {
namespace {

std::string shape_text(const OnnxValue& value) {
  std::string text;
  for (const std::int64_t dim : value.dims) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dim < 0 ? "any" : std::to_string(dim));
  }
  return fmt::format("{} [{}]", value.type, text);
}

[[noreturn]] void refuse_input(const OnnxValue& input) {
  throw std::runtime_error(
      fmt::format("its input is {}, but a classifier takes floats [1, 3, height, width] or "
                  "[1, height, width, 3], where the first may be any, or such bytes",
                  shape_text(input)));
}

bool is_bytes(const OnnxValue& input) { return input.type == "uint8" || input.type == "int8"; }

// Throws for what is no picture.
TensorLayout layout_of(const OnnxValue& input) {
  const std::vector<std::int64_t>& dims = input.dims;
  const bool numbers = is_bytes(input) || input.type == "float" || input.type == "float16" ||
                       input.type == "bfloat16" || input.type == "double";
  if (!numbers || dims.size() != 4 || (dims[0] != 1 && dims[0] != -1)) refuse_input(input);
  const bool planar = dims[1] == 3;
  if (!planar && dims[3] != 3) refuse_input(input);
  const bool is_size = std::all_of(dims.begin() + 1, dims.end(), [](std::int64_t size) {
    return size != 0 && size <= kMaxInputSide;
  });
  if (!is_size) refuse_input(input);
  return planar ? TensorLayout::kPlanar : TensorLayout::kChannelsLast;
}

// Of one side; `graph`: -1 if it may be any.
void take_side(const char* name, std::int64_t graph, bool described, int& side) {
  if (graph < 0 || graph == side) return;
  if (described) {
    throw std::runtime_error(fmt::format(
        "its metadata says that the {} is {}, but its input has {}", name, side, graph));
  }
  side = static_cast<int>(graph);
}

}  // namespace

void take_input(const OnnxContents& contents, bool described, ModelSpec& spec) {
  if (contents.inputs.size() != 1) {
    throw std::runtime_error(
        fmt::format("it takes {} inputs, but a classifier takes one", contents.inputs.size()));
  }
  const OnnxValue& value = contents.inputs.front();
  InputSpec& input = spec.input;
  input.layout = layout_of(value);
  const bool planar = input.layout == TensorLayout::kPlanar;
  const std::int64_t height = value.dims[planar ? 2 : 1];
  const std::int64_t width = value.dims[planar ? 3 : 2];
  take_side("height", height, described, input.height);
  take_side("width", width, described, input.width);
  if (height > 0 && width > 0) spec.assumed.size = false;
  if (is_bytes(value)) {
    const float first = value.type == "int8" ? 128.0F : 0.0F;
    input.mean.fill(first / 255);
    input.std.fill(1.0F / 255);
    spec.assumed.mean = spec.assumed.std = false;
  }
}

}  // namespace lookout
