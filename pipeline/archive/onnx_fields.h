// The numbers of the fields of ONNX's messages, as far as they are read or written, and of their
// enumerations: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#pragma once

#include <protozero/pbf_message.hpp>

namespace lookout::onnx {

using Number = protozero::pbf_tag_type;

template <typename Field>
using Message = protozero::pbf_message<Field>;

enum class ModelField : Number {
  kProducerName = 2,
  kProducerVersion = 3,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadataProps = 14,
  kFunctions = 25,
};
enum class OpsetField : Number { kDomain = 1, kVersion = 2 };
enum class TextField : Number { kKey = 1, kValue = 2 };
enum class GraphField : Number {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12
};
enum class FunctionField : Number { kName = 1, kNode = 7, kDomain = 10 };
enum class NodeField : Number {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDomain = 7,
};
enum class AttributeField : Number {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kGraphs = 11,
  kType = 20,
  kReference = 21,  // an attribute of the function that the node is in
};
enum class TensorField : Number {
  kDims = 1,
  kDataType = 2,
  kName = 8,
  kRawData = 9,
  kDataLocation = 14,
};
enum class ValueField : Number { kName = 1, kType = 2 };
enum class TypeField : Number { kTensor = 1 };
enum class TensorTypeField : Number { kElement = 1, kShape = 2 };
enum class ShapeField : Number { kDim = 1 };
enum class DimField : Number { kValue = 1, kName = 2 };

// For switch: a field of this number and form. Others of the number are skipped.
template <typename Field>
constexpr std::uint32_t varint(Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::varint);
}
template <typename Field>
constexpr std::uint32_t fixed32(Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::fixed32);
}
template <typename Field>
constexpr std::uint32_t delimited(Field field) {
  return protozero::tag_and_type(field, protozero::pbf_wire_type::length_delimited);
}

// TensorProto.DataType
inline constexpr int kFloat = 1;
inline constexpr int kInt8 = 3;
inline constexpr int kInt64 = 7;
inline constexpr int kBool = 9;

inline constexpr int kExternal = 1;  // TensorProto.DataLocation
inline constexpr int kInt = 2;       // AttributeProto.AttributeType

}  // namespace lookout::onnx
