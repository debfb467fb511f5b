#include "pipeline/onnx/onnx_numbers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <opencv2/core/mat.hpp>

#include "pipeline/archive/onnx_contents.h"

namespace lookout {
namespace {

// OpenCV's depth of the elements; -1: it has none.
int depth_of(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      return CV_32F;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
      return CV_16F;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
      return CV_64F;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
      return CV_8U;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
      return CV_8S;
    default:
      return -1;
  }
}

constexpr auto kBfloat16 = ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;

// The upper half of a float: https://en.wikipedia.org/wiki/Bfloat16_floating-point_format
float from_bfloat16(std::uint16_t upper) {
  const std::uint32_t bits = std::uint32_t{upper} << 16;
  float number = 0;
  std::memcpy(&number, &bits, sizeof(number));
  return number;
}

// Rounded to the nearest, as inputs are finite.
std::uint16_t to_bfloat16(float number) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

NetworkOutput::Numbers numbers_of(ONNXTensorElementDataType type) {
  const int depth = depth_of(type);
  if (depth == CV_8U) return NetworkOutput::Numbers::kBytes;
  const bool floats = type == kBfloat16 || (depth >= 0 && depth != CV_8S);
  return floats ? NetworkOutput::Numbers::kFloats : NetworkOutput::Numbers::kOther;
}

}  // namespace

NetworkOutput describe_output(const std::string& name, const Ort::Value& value) {
  NetworkOutput output;
  output.name = name;
  output.type = "no tensor";
  if (!value.IsTensor()) return output;
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  output.type = onnx_type_text(info.GetElementType());
  output.numbers = numbers_of(info.GetElementType());
  output.dims = info.GetShape();
  return output;
}

void read_numbers(const Ort::Value& tensor, std::vector<float>& numbers) {
  const Ort::TensorTypeAndShapeInfo info = tensor.GetTensorTypeAndShapeInfo();
  const ONNXTensorElementDataType type = info.GetElementType();
  const std::size_t count = info.GetElementCount();
  const void* data = tensor.GetTensorRawData();
  numbers.resize(count);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
    std::memcpy(numbers.data(), data, count * sizeof(float));
  } else if (type == kBfloat16) {
    const auto* elements = static_cast<const std::uint16_t*>(data);
    std::transform(elements, elements + count, numbers.begin(), from_bfloat16);
  } else {
    const cv::Mat elements(1, static_cast<int>(count), depth_of(type), const_cast<void*>(data));
    cv::Mat row(1, static_cast<int>(count), CV_32F, numbers.data());
    elements.convertTo(row, CV_32F, depth_of(type) == CV_8U ? 1.0 / 255 : 1);
  }
}

std::vector<std::uint8_t> elements_of(const std::vector<float>& numbers,
                                      ONNXTensorElementDataType type) {
  const auto count = static_cast<int>(numbers.size());
  if (type == kBfloat16) {
    std::vector<std::uint8_t> elements(numbers.size() * sizeof(std::uint16_t));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint16_t element = to_bfloat16(numbers[i]);
      std::memcpy(elements.data() + i * sizeof(element), &element, sizeof(element));
    }
    return elements;
  }
  const cv::Mat row(1, count, CV_32F, const_cast<float*>(numbers.data()));
  std::vector<std::uint8_t> elements(numbers.size() * CV_ELEM_SIZE1(depth_of(type)));
  cv::Mat converted(1, count, depth_of(type), elements.data());
  row.convertTo(converted, depth_of(type));
  return elements;
}

}  // namespace lookout
