// The operator for ONNX Runtime: CalibratedScores of the domain lookout_example.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>

#include "calibrated_scores.h"

namespace {

struct Kernel {
  explicit Kernel(const OrtKernelInfo* info) {
    const Ort::ConstKernelInfo node(info);
    temperature = node.GetAttribute<float>("temperature");
    threshold = node.GetAttribute<float>("threshold");
    if (temperature <= 0) ORT_CXX_API_THROW("temperature is not above 0", ORT_INVALID_ARGUMENT);
  }

  // [rows, classes] -> [rows, classes + 1]
  // NOLINTNEXTLINE(readability-identifier-naming)
  OrtStatusPtr ComputeV2(OrtKernelContext* context) const {
    const Ort::KernelContext values(context);
    const auto input = values.GetInput(0);
    auto shape = input.GetTensorTypeAndShapeInfo().GetShape();
    if (shape.size() != 2 || shape[1] < 1) {
      return Ort::Status("CalibratedScores takes rows of floats", ORT_INVALID_ARGUMENT).release();
    }
    const std::int64_t classes = shape[1]++;
    auto output = values.GetOutput(0, shape);
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      lookout_example::calibrated_scores(
          input.GetTensorData<float>() + row * classes, classes, temperature, threshold,
          output.GetTensorMutableData<float>() + row * (classes + 1));
    }
    return nullptr;
  }

  float temperature;
  float threshold;
};

struct Operator : Ort::CustomOpBase<Operator, Kernel, /*WithStatus=*/true> {
  // NOLINTBEGIN(readability-identifier-naming): ONNX Runtime calls them so
  OrtStatusPtr CreateKernelV2(const OrtApi& /*api*/, const OrtKernelInfo* info,
                              void** kernel) const {
    try {
      *kernel = new Kernel(info);  // the base class deletes it
      return nullptr;
    } catch (const std::exception& error) {
      return Ort::Status(error).release();
    }
  }
  const char* GetName() const { return "CalibratedScores"; }
  std::size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(std::size_t /*index*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
  std::size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(std::size_t /*index*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
  // NOLINTEND(readability-identifier-naming)
};

}  // namespace

// ONNX Runtime asks for operators here, once for each session, which use them as long as they live.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  if (api == nullptr) return nullptr;  // an older ONNX Runtime: the model will miss the operator
  Ort::InitApi(api);
  static const Operator scores;
  static Ort::CustomOpDomain domain = [] {
    Ort::CustomOpDomain made("lookout_example");
    made.Add(&scores);
    return made;
  }();
  return api->AddCustomOpDomain(options, domain);
}

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number
// lookout refuses the library when its ONNX Runtime is older.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" const char lookout_operators_abi[] = "ONNX Runtime 1." TEXT_OF(ORT_API_VERSION);
